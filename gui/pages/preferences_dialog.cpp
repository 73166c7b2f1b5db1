// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/preferences_dialog.hpp"

#include <QFile>
#include <QFormLayout>
#include <QGroupBox>
#include <QPushButton>
#include <QVBoxLayout>

#include "analyze/base/host_names.hpp"
#include "analyze/base/units.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {
namespace {

constexpr int no_port = -1;  // none is set
constexpr std::uint64_t gigabit = 1'000'000'000;
constexpr std::uint64_t speeds[] = {1, 10, 25, 40, 50, 100, 200, 400, 800};  // Gb/s

/// Selects the entry with that data; adds it if it is missing.
void choose(QComboBox* box, const QVariant& data, const QString& text) {
  int place = box->findData(data);
  if (place < 0) {
    box->addItem(text, data);
    place = box->count() - 1;
  }
  box->setCurrentIndex(place);
}

QFormLayout* group(QVBoxLayout* column, const QString& title) {
  auto* box = new QGroupBox(title);
  column->addWidget(box);
  return new QFormLayout(box);
}

}  // namespace

PreferencesDialog::PreferencesDialog(const Preferences& preferences, QWidget* parent)
    : QDialog(parent),
      theme_(new QComboBox),
      time_(new QComboBox),
      link_speed_(new QComboBox),
      policy_(new QComboBox),
      icrc_(new QCheckBox(tr("Check the &ICRC of every packet"))),
      jobs_(new QSpinBox),
      trimmed_(new QLineEdit),
      mrc_port_(new QSpinBox),
      decode_as_(new QLineEdit),
      host_names_(new QLineEdit),
      problem_(new QLabel),
      buttons_(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Apply |
                                    QDialogButtonBox::Cancel | QDialogButtonBox::RestoreDefaults)) {
  setWindowTitle(tr("Preferences"));
  theme_->addItem(tr("Same as desktop"), QStringLiteral("system"));
  theme_->addItem(tr("Light"), QStringLiteral("light"));
  theme_->addItem(tr("Dark"), QStringLiteral("dark"));
  time_->addItem(tr("Seconds since the first packet"), static_cast<int>(TimeDisplay::relative));
  time_->addItem(tr("Date and time, UTC"), static_cast<int>(TimeDisplay::utc));
  time_->addItem(tr("Date and time, local"), static_cast<int>(TimeDisplay::local));
  link_speed_->addItem(tr("From the capture"), QVariant::fromValue<qulonglong>(0));
  for (const std::uint64_t speed : speeds)
    link_speed_->addItem(tr("%1 Gb/s").arg(speed), QVariant::fromValue<qulonglong>(speed * gigabit));
  policy_->addItem(tr("None"), QString());
  for (const analyze::PolicyProfile& profile : analyze::policy_profiles())
    policy_->addItem(to_qt(profile.name), to_qt(profile.name));
  constexpr int most_jobs = 256;
  jobs_->setRange(0, most_jobs);
  jobs_->setSpecialValueText(tr("One per core"));

  auto* column = new QVBoxLayout(this);
  QFormLayout* look = group(column, tr("Display"));
  look->addRow(tr("&Colours:"), theme_);
  look->addRow(tr("&Times:"), time_);
  look->addRow(tr("&Names of hosts:"), host_names_);
  host_names_->setPlaceholderText(tr("a file with addresses and names, /etc/hosts"));
  host_names_->setToolTip(
      tr("Shown in place of addresses; filters, commands and exports keep the addresses"));
  QFormLayout* analysis = group(column, tr("Analysis"));
  analysis->addRow(icrc_);
  analysis->addRow(tr("T&hreads:"), jobs_);
  analysis->addRow(tr("&Link speed:"), link_speed_);
  analysis->addRow(tr("&Policy at start:"), policy_);
  link_speed_->setToolTip(
      tr("Speed of the links with PAUSE and PFC frames: sets how long a pause quantum (512 bit times) is"));
  policy_->setToolTip(tr("Marking policy of new windows"));

  QFormLayout* reading = group(column, tr("What no packet says"));
  reading->addRow(tr("Trimmed &DSCPs:"), trimmed_);
  reading->addRow(tr("&MRC port:"), mrc_port_);
  reading->addRow(tr("Decode &as:"), decode_as_);
  trimmed_->setPlaceholderText(tr("those of the policy; 11 or 11,21"));
  trimmed_->setToolTip(tr("DSCPs that switches give to packets that they trim instead of dropping them"));
  mrc_port_->setRange(no_port, UINT16_MAX);
  mrc_port_->setSpecialValueText(tr("That of the policy, else %1").arg(dissect::Options{}.mrc_port));
  mrc_port_->setToolTip(tr("UDP port of MRC besides 4791; 0: none"));
  decode_as_->setPlaceholderText(tr("falcon=7777,veroce=4794,ifa=253,csig=0x9900"));
  decode_as_->setToolTip(
      tr("Numbers that nobody assigned: UDP ports of Falcon and veRoCE, the IP protocol of IFA"));
  problem_->setWordWrap(true);
  problem_->setTextFormat(Qt::PlainText);
  column->addWidget(problem_);
  for (QLineEdit* field : {trimmed_, decode_as_, host_names_})
    connect(field, &QLineEdit::textChanged, this, &PreferencesDialog::check);

  QDialogButtonBox* buttons = buttons_;
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, [this] {
    Q_EMIT applied(this->preferences());
    accept();
  });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(buttons->button(QDialogButtonBox::Apply), &QPushButton::clicked, this,
          [this] { Q_EMIT applied(this->preferences()); });
  connect(buttons->button(QDialogButtonBox::RestoreDefaults), &QPushButton::clicked, this,
          [this] { show_preferences({}); });
  show_preferences(preferences);
}

void PreferencesDialog::show_preferences(const Preferences& p) {
  choose(theme_, p.theme, p.theme);
  choose(time_, static_cast<int>(p.time), {});
  choose(link_speed_, QVariant::fromValue<qulonglong>(p.link_speed_bps),
         QString::fromStdString(analyze::rate_text(static_cast<double>(p.link_speed_bps))));
  choose(policy_, p.policy, p.policy);
  icrc_->setChecked(p.check_icrc);
  jobs_->setValue(static_cast<int>(p.jobs));
  trimmed_->setText(QString::fromStdString(p.dissecting.trimmed_dscp));
  mrc_port_->setValue(p.dissecting.mrc_port ? int{*p.dissecting.mrc_port} : no_port);
  decode_as_->setText(QString::fromStdString(p.dissecting.decode_as));
  host_names_->setText(p.host_names);
  check();
}

/// Texts that say nothing are not taken.
void PreferencesDialog::check() {
  const analyze::DissectChoice typed = preferences().dissecting;
  std::string problem;
  if (!typed.trimmed_dscp.empty()) problem = analyze::dscps_error(typed.trimmed_dscp);
  if (problem.empty() && !typed.decode_as.empty()) problem = analyze::named_numbers_error(typed.decode_as);
  if (const QString file = host_names_->text().trimmed(); problem.empty() && !file.isEmpty()) {
    const auto names = analyze::HostNames::load(QFile::encodeName(file).toStdString());
    if (!names) problem = shown_name(file).toStdString() + ": " + names.error();
  }
  problem_->setText(QString::fromStdString(problem));
  problem_->setVisible(!problem.empty());
  for (const auto button : {QDialogButtonBox::Ok, QDialogButtonBox::Apply})
    buttons_->button(button)->setEnabled(problem.empty());
}

Preferences PreferencesDialog::preferences() const {
  Preferences p;
  p.theme = theme_->currentData().toString();
  p.time = static_cast<TimeDisplay>(time_->currentData().toInt());
  p.link_speed_bps = link_speed_->currentData().toULongLong();
  p.policy = policy_->currentData().toString();
  p.check_icrc = icrc_->isChecked();
  p.jobs = static_cast<unsigned>(jobs_->value());
  p.dissecting.trimmed_dscp = trimmed_->text().trimmed().toStdString();
  if (mrc_port_->value() != no_port) p.dissecting.mrc_port = static_cast<std::uint16_t>(mrc_port_->value());
  p.dissecting.decode_as = decode_as_->text().trimmed().toStdString();
  p.host_names = host_names_->text().trimmed();
  return p;
}

}  // namespace roce::gui
