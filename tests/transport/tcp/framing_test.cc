// SPDX-License-Identifier: BSD-2-Clause
// The arithmetic of FPDUs, and notes.
#include <gtest/gtest.h>

#include "transport/tcp/fpdu.h"
#include "transport/tcp/note.h"

namespace softdat::transport::tcp {
namespace {

TEST(Fpdu, IsPaddedToFourAndEndsInFourBytesOfCrc) {
  EXPECT_EQ(fpdu_size(14), 20u);
  EXPECT_EQ(fpdu_size(15), 24u);
  EXPECT_EQ(fpdu_size(18), 24u);
  EXPECT_EQ(fpdu_size(46), 52u);
  EXPECT_EQ(trailer_of(14), 4u);
  EXPECT_EQ(trailer_of(15), 7u);
  for (std::size_t length = 0; length <= kMaxUlpdu; ++length) {
    ASSERT_EQ(fpdu_size(length) % 4, 0u) << length;
    ASSERT_LE(trailer_of(length), kMaxTrailer) << length;
  }
  EXPECT_EQ(kMaxFpdu, 65544u);
}

TEST(Fpdu, TheLargestUlpduWithinASegmentFillsIt) {
  for (std::size_t segment = 536; segment < 70000; ++segment) {
    const std::size_t ulpdu = ulpdu_within(segment);
    ASSERT_LE(fpdu_size(ulpdu), segment);
    if (ulpdu < kMaxUlpdu) {
      ASSERT_GT(fpdu_size(ulpdu + 1), segment);
    }
  }
  EXPECT_EQ(ulpdu_within(1448), 1442u);
}

TEST(Note, KindAndValueShareTheTaggedOffset) {
  EXPECT_EQ(encode_note(NoteKind::kAck, 5), 0x0100'0000'0000'0005u);
  EXPECT_EQ(encode_note(NoteKind::kBye, 0), 0x0400'0000'0000'0000u);
  for (const NoteKind kind :
       {NoteKind::kAck, NoteKind::kResend, NoteKind::kResent, NoteKind::kBye, NoteKind::kWords, NoteKind::kLacking}) {
    const auto note = decode_note(encode_note(kind, kNoteValueMask));
    ASSERT_TRUE(note);
    EXPECT_EQ(note->kind, kind);
    EXPECT_EQ(note->value, kNoteValueMask);
  }
}

TEST(Note, OtherOffsetsAreNone) {
  EXPECT_FALSE(decode_note(0));
  EXPECT_FALSE(decode_note(0x0000'7fff'dead'beefu));
  EXPECT_FALSE(decode_note(0x0700'0000'0000'0000u));
  EXPECT_FALSE(decode_note(~0ull));
}

}  // namespace
}  // namespace softdat::transport::tcp
