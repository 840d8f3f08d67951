// Counts what a reconciliation has found, and says what to do about it.
import { table } from '@paylog/runtime/process/table'
import type { ReconcileResult } from './askProviders.ts'

type Finding = ReconcileResult['finding']

/** The harmless ones first. */
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
/** With these everything is as it should be, at the latest by now. */
const settled: ReadonlySet<Finding> = new Set<Finding>(['same', 'stateless', 'late'])

const advice: Readonly<Record<Finding, string>> = {
  same: 'The provider says what is recorded.',
  stateless: 'This provider keeps nothing that could be asked for.',
  late: 'Recorded by this run. If there are many: does the provider reach its receiver?',
  missing: 'The provider does not know the intent. PayPal forgets what nobody approved; else, is it the right account?',
  amount_differs: 'Another amount was paid or approved; the payment stays as it is. Settle or refund it there.',
  approval_waits: 'Declined when the money was to be taken. The payer has to approve again, or pay in another way.',
  conflict: 'The provider contradicts what is final, or charged twice. Look there, and refund what is too much.',
  unknown: 'It is still open what became of a call. The worker keeps asking; run this again later.',
  unreachable: 'The provider did not answer or is not enabled: check credentials and network, run this again.',
}

type Counts = Map<Finding, number>

export type Tally = {
  add(answer: ReconcileResult): void
  answered(): number
  /** How many answers leave something to do. */
  unsettled(): number
  /** The findings with their counts, the providers side by side. */
  text(): string
  /** @param of how many payments there were to ask about */
  json(of: number): object
}

export function createTally(): Tally {
  const byProvider = new Map<string, Counts>()
  const all: Counts = new Map()
  const sumOf = (counted: readonly Finding[]) => counted.reduce((sum, finding) => sum + (all.get(finding) ?? 0), 0)
  const answered = () => sumOf(findings)
  return {
    answered,
    unsettled: () => sumOf(findings.filter((finding) => !settled.has(finding))),
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
      return table(['finding', ...providers, 'what it means'], rows, 0)
    },
    json: (of) => ({
      complete: answered() === of,
      payments: of,
      answered: answered(),
      findings: countsJson(all),
      providers: Object.fromEntries([...byProvider].map(([provider, counts]) => [provider, countsJson(counts)])),
    }),
  }
}

const countsJson = (counts: Counts) =>
  Object.fromEntries(findings.map((finding) => [finding, counts.get(finding) ?? 0]))
