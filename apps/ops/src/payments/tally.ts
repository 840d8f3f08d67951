// Counts the results of a reconciliation by finding and provider.
import { table } from '@paylog/runtime/process/table'
import type { ReconcileResult } from './queryProviders.ts'

type Finding = ReconcileResult['finding']

/** Harmless ones first. */
const findings: readonly Finding[] = [
  'same',
  'stateless',
  'late',
  'missing',
  'amount_differs',
  'approval_waits',
  'conflict',
  'unknown',
  'unreachable',
]

/** Findings that need no action. */
const harmless: ReadonlySet<Finding> = new Set<Finding>(['same', 'stateless', 'late'])

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

type Counts = Map<Finding, number>

export type Tally = {
  add(response: ReconcileResult): void
  checked(): number
  /** Results that need action. */
  unsettled(): number
  /** A table of findings by provider. */
  text(): string
  /** @param of the number of selected payments */
  json(of: number): object
}

export function createTally(): Tally {
  const byProvider = new Map<string, Counts>()
  const all: Counts = new Map()
  const sumOf = (counted: readonly Finding[]) => counted.reduce((sum, finding) => sum + (all.get(finding) ?? 0), 0)
  const checked = () => sumOf(findings)
  return {
    checked,
    unsettled: () => sumOf(findings.filter((finding) => !harmless.has(finding))),
    add({ provider_id, finding }) {
      const own = byProvider.get(provider_id) ?? new Map()
      byProvider.set(provider_id, own)
      for (const counts of [own, all]) counts.set(finding, (counts.get(finding) ?? 0) + 1)
    },
    text() {
      const providers = [...byProvider.keys()].sort()
      const rows = findings
        .filter((finding) => all.has(finding))
        .map((finding) => {
          const counts = providers.map((provider) => String(byProvider.get(provider)?.get(finding) ?? 0))
          return [finding, ...counts, advice[finding]]
        })
      return table(['finding', ...providers, 'meaning'], rows, 0)
    },
    json: (of) => ({
      complete: checked() === of,
      payments: of,
      answered: checked(),
      findings: countsJson(all),
      providers: Object.fromEntries([...byProvider].map(([provider, counts]) => [provider, countsJson(counts)])),
    }),
  }
}

const countsJson = (counts: Counts) =>
  Object.fromEntries(findings.map((finding) => [finding, counts.get(finding) ?? 0]))
