// Prints the results of a reconciliation, as text and as JSON, and counts them by finding and provider.
import type { Reconciliation } from '@paylog/commands/payments/reconcilePayment'
import { amountText } from '@paylog/domain/currency'
import type { IntentSnapshot } from '@paylog/providers/provider'
import { table } from '@paylog/runtime/process/table'
import type { Finding, ReconcileResult } from './queryProviders.ts'

/** Whether the result is printed: not when everything is as recorded. */
export const isRemarkable = ({ finding }: ReconcileResult) => finding !== 'same' && finding !== 'stateless'

const widestFinding = 'amount_differs'.length
const widestProvider = 'authorize-net'.length

export function resultText({ finding, payment_id, provider_id, reconciliation, problem }: ReconcileResult): string {
  const summary = reconciliation ? detail(finding, reconciliation) : (problem ?? 'not checked')
  return `${finding.padEnd(widestFinding)}  ${provider_id.padEnd(widestProvider)}  ${payment_id}  ${summary}`
}

function detail(finding: Finding, reconciliation: Reconciliation): string {
  const { status_before, payment, snapshot, problem } = reconciliation
  const recorded = `${payment.status} in Paylog`
  switch (finding) {
    case 'same':
    case 'stateless':
      return payment.status
    case 'late':
      return status_before === payment.status
        ? `${payment.status}, its intent is now recorded`
        : `${status_before} -> ${payment.status}`
    case 'missing':
      return `${recorded}, intent ${payment.provider_intent_id} unknown to the provider`
    case 'amount_differs':
      return `${amountText(payment.total_cents, payment.currency)} is due, ${reportedAmount(reconciliation)} at the provider`
    case 'approval_waits':
      return `${recorded}, approved at the provider`
    case 'conflict':
      return [
        recorded,
        ...(snapshot ? [`${snapshot.report.status} at the provider`] : []),
        ...charges(reconciliation),
      ].join(', ')
    case 'unknown':
    case 'unreachable':
      return `${recorded}, ${problem ?? 'a call got no response'}`
  }
}

function reportedAmount({ payment, snapshot }: Reconciliation): string {
  const { amount_cents, currency } = snapshot?.report ?? {}
  return amountText(amount_cents ?? payment.total_cents, (currency ?? payment.currency).toUpperCase())
}

/** What was charged at the provider, unless it is the one charge on record. */
function charges({ payment, snapshot }: Reconciliation): readonly string[] {
  if (!snapshot) return []
  const { status, provider_payment_id } = snapshot.report
  const first = status === 'succeeded' && provider_payment_id !== null ? [provider_payment_id] : []
  const charged = [...first, ...idsOf(snapshot)]
  const isOnRecord = charged.length === 1 && charged[0] === payment.provider_payment_id
  if (charged.length === 0 || isOnRecord) return []
  return [`charges at the provider: ${charged.join(' ')}`, `recorded: ${payment.provider_payment_id ?? 'none'}`]
}

const idsOf = ({ further_charges }: IntentSnapshot) =>
  further_charges.map(({ provider_payment_id }) => provider_payment_id)

export function resultJson({ finding, payment_id, provider_id, reconciliation, problem }: ReconcileResult) {
  const { payment, status_before, snapshot } = reconciliation ?? {}
  return {
    finding,
    payment_id,
    provider_id,
    provider_intent_id: payment?.provider_intent_id ?? null,
    status_before: status_before ?? null,
    status: payment?.status ?? null,
    amount_cents: payment?.total_cents ?? null,
    currency: payment?.currency ?? null,
    reported: snapshot
      ? {
          status: snapshot.report.status,
          amount_cents: snapshot.report.amount_cents,
          currency: snapshot.report.currency?.toUpperCase() ?? null,
          provider_payment_id: snapshot.report.provider_payment_id,
          further_charges: idsOf(snapshot),
        }
      : null,
    problem: problem ?? null,
  }
}

/** What each finding means, in the order of the table. */
const advice: Readonly<Record<Finding, string>> = {
  same: 'The provider agrees with the record.',
  stateless: 'This provider keeps no state that could be compared.',
  late: 'Recorded by this run. If there are many, check that the provider reaches its receiver.',
  missing:
    'The provider has no such intent. PayPal deletes orders that were not approved; otherwise check the account.',
  amount_differs:
    'Another amount was paid or approved, and the payment is unchanged. Correct or refund it at the provider.',
  approval_waits: 'Approved, but the capture was declined. The payer has to approve again or pay in another way.',
  conflict: 'The provider contradicts a final status, or charged twice. Check at the provider and refund the excess.',
  unknown: 'The outcome of a call is still unknown. The worker keeps checking; run this again later.',
  unreachable: 'The provider did not respond or is not enabled. Check credentials and network, then run this again.',
}
const harmless: readonly Finding[] = ['same', 'stateless', 'late']

const findings = Object.keys(advice).filter((name): name is Finding => name in advice)

export type Tally = ReturnType<typeof createTally>

type Counts = Record<Finding, number>

const noCounts = () => Object.fromEntries(findings.map((finding) => [finding, 0])) as Counts

export function createTally() {
  const all = noCounts()
  const byProvider = new Map<string, Counts>()
  const sum = (counted: readonly Finding[]) => counted.reduce((total, finding) => total + all[finding], 0)
  const checked = () => sum(findings)
  return {
    checked,
    /** Results that need action. */
    unsettled: () => sum(findings.filter((finding) => !harmless.includes(finding))),
    add({ provider_id, finding }: ReconcileResult): void {
      const own = byProvider.get(provider_id) ?? noCounts()
      byProvider.set(provider_id, own)
      own[finding]++
      all[finding]++
    },
    /** A table of findings by provider. */
    text(): string {
      const providers = [...byProvider].sort(([one], [other]) => (one < other ? -1 : 1))
      const rows = findings
        .filter((finding) => all[finding] > 0)
        .map((finding) => [finding, ...providers.map(([, counts]) => String(counts[finding])), advice[finding]])
      return table(['finding', ...providers.map(([name]) => name), 'meaning'], rows, 0)
    },
    /** @param of the number of selected payments */
    json: (of: number) => ({
      complete: checked() === of,
      payments: of,
      answered: checked(),
      findings: all,
      providers: Object.fromEntries(byProvider),
    }),
  }
}
