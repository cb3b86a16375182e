#include "agent/health/kernel_record.h"

#include "agent/health/line_pattern.h"
#include "agent/health/xid_line.h"
#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

TEST(KernelRecord, reads_the_form_of_the_device) {
  EXPECT_EQ(parse_kernel_record("4,1003,3600000010,-;NVRM: Xid\n SUBSYSTEM=pci\n"),
            (KernelRecord{.sequence = 1003, .since_boot = 3'600'000'010us, .text = "NVRM: Xid"}));
  EXPECT_EQ(parse_kernel_record("6,1,2,-,caller=T12;a;b")->text, "a;b");
}

TEST(KernelRecord, reads_the_forms_of_dmesg) {
  const KernelRecord timed{.sequence = {}, .since_boot = 12'000'034us, .text = "usb 1-1: new"};
  EXPECT_EQ(parse_kernel_record("[   12.000034] usb 1-1: new"), timed);
  EXPECT_EQ(parse_kernel_record("<6>[   12.000034] usb 1-1: new"), timed);
  EXPECT_EQ(parse_kernel_record("[Fri Nov 20 14:39:02 2026] usb 1-1: new"),
            (KernelRecord{.sequence = {}, .since_boot = {}, .text = "usb 1-1: new"}));
  EXPECT_EQ(parse_kernel_record("[   12.000034] [ T4711] usb 1-1: new"), timed);
  EXPECT_EQ(parse_kernel_record("[Hardware Error]: fatal")->text, "[Hardware Error]: fatal");
}

TEST(KernelRecord, tells_whose_message_it_is) {
  EXPECT_EQ(parse_kernel_record("4,1,2,-;text")->facility, 0);
  EXPECT_EQ(parse_kernel_record("12,1,2,-;text")->facility, 1);  // a program's, as written
  EXPECT_EQ(parse_kernel_record("30,1,2,-;text")->facility, 3);  // a daemon's
  EXPECT_EQ(parse_kernel_record("<12>[   12.000034] text")->facility, 1);
  EXPECT_EQ(parse_kernel_record("<4>[   12.000034] text")->facility, 0);
  EXPECT_EQ(parse_kernel_record("text")->facility, 0);
}

TEST(KernelRecord, is_none_for_what_follows_a_record_and_for_nothing) {
  EXPECT_FALSE(parse_kernel_record(" SUBSYSTEM=usb"));
  EXPECT_FALSE(parse_kernel_record(""));
  EXPECT_FALSE(parse_kernel_record("6,1,2,-;"));
}

TEST(KernelRecord, is_bounded_and_printable) {
  const auto record = parse_kernel_record("6,1,2,-;" + std::string(9'000, '\x01'));
  EXPECT_EQ(record->text, std::string(kKernelTextBytesMax, '?'));
}

TEST(XidLine, tells_gpu_and_code) {
  EXPECT_EQ(parse_xid_line("NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', fallen off"),
            (XidLine{.kind = XidKind::xid, .bus_id = "0000:3b:00", .code = 79}));
  EXPECT_EQ(parse_xid_line("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46"),
            (XidLine{.kind = XidKind::sxid,
                     .bus_id = "0000:c1:00.0",
                     .code = 28006,
                     .severity = XidSeverity::nonfatal}));
  EXPECT_EQ(parse_xid_line("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, x")->severity,
            XidSeverity::fatal);
}

TEST(XidLine, is_nothing_else) {
  for (const char* text :
       {"NVRM: GPU at PCI:0000:3b:00: GPU-6f2ac8bd", "NVRM: Xid (PCI:0000:3b:00): x",
        "NVRM: Xid (PCI:../../etc): 79", "NVRM: Xid (PCI:0000:3b:00)",
        "x (NVRM: Xid (PCI:0000:3b:00): 79, y", "SXid (PCI:0000:c1:00.0): 1",
        "NVRM: Xid (PCI:0000:3b:00): 99999999999999999999", "NVRM: Xid (PCI:"}) {
    EXPECT_FALSE(parse_xid_line(text)) << text;
  }
}

TEST(XidLine, bus_ids_compare_however_they_are_printed) {
  EXPECT_EQ(plain_bus_id("00000000:3B:00.0"), "0000:3b:00");
  EXPECT_EQ(plain_bus_id("0000:3b:00"), "0000:3b:00");
}

TEST(LinePattern, takes_the_word_out_of_a_line) {
  const LinePattern pattern("*I/O error* dev {}* sector *");
  EXPECT_EQ(pattern.match("blk_update_request: I/O error, dev nvme1n1, sector 5"), "nvme1n1,");
  EXPECT_FALSE(pattern.match("I/O error, dev nvme1n1"));
  EXPECT_EQ(LinePattern("*nvme {}: I/O * timeout*").match("nvme nvme0: I/O 3 QID 1 timeout, x"),
            "nvme0");
  EXPECT_EQ(LinePattern("plain").match("plain"), "");
  EXPECT_FALSE(LinePattern("plain").match("plainer"));
  EXPECT_EQ(LinePattern("*ends with {}").match("it ends with this"), "this");
  EXPECT_FALSE(LinePattern("*ends with {}").match("it ends with this one"));
  EXPECT_EQ(LinePattern("*error on dev {}*").match("I/O error on dev dm-3, and so on"), "dm-3,");
}

TEST(LinePattern, is_bounded_for_lines_made_to_hurt_it) {
  std::string line;
  for (int i = 0; i < 128; ++i) line += "I/O error dev ";
  EXPECT_FALSE(LinePattern("*I/O error* dev {}* dev {}* dev * sector *").match(line));
}

}  // namespace
}  // namespace hai
