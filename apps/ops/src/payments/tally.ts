// Counts the results of a reconciliation by finding and provider.
import { table } from '@paylog/runtime/process/table'
import type { Finding, ReconcileResult } from './queryProviders.ts'

type Meaning = { readonly isHarmless?: true; readonly advice: string }

const meanings: Readonly<Record<Finding, Meaning>> = {
  same: { isHarmless: true, advice: 'The provider agrees with the record.' },
  stateless: { isHarmless: true, advice: 'This provider keeps no state that could be compared.' },
  late: {
    isHarmless: true,
    advice: 'Recorded by this run. If there are many, check that the provider reaches its receiver.',
  },
  missing: {
    advice:
      'The provider has no such intent. PayPal deletes orders that were not approved; otherwise check the account.',
  },
  amount_differs: {
    advice: 'Another amount was paid or approved, and the payment is unchanged. Correct or refund it at the provider.',
  },
  approval_waits: {
    advice: 'Approved, but the capture was declined. The payer has to approve again or pay in another way.',
  },
  conflict: {
    advice: 'The provider contradicts a final status, or charged twice. Check at the provider and refund the excess.',
  },
  unknown: {
    advice: 'The outcome of a call is still unknown. The worker keeps checking; run this again later.',
  },
  unreachable: {
    advice: 'The provider did not respond or is not enabled. Check credentials and network, then run this again.',
  },
}

const findings = Object.keys(meanings).filter((name): name is Finding => name in meanings)

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
    unsettled: () => sum(findings.filter((finding) => !meanings[finding].isHarmless)),
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
        .map((finding) => [
          finding,
          ...providers.map(([, counts]) => String(counts[finding])),
          meanings[finding].advice,
        ])
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
