// One answer of a provider, for people and for machines.
import { currencyExponent } from '@paylog/domain/money'
import type { Reconciliation } from '@paylog/workflows/payments/reconcilePayment'
import type { ReconcileResult } from './askProviders.ts'

type Finding = ReconcileResult['finding']

/** Whether it is worth a line: not when everything is as recorded. */
export const isRemarkable = ({ finding }: ReconcileResult) => finding !== 'same' && finding !== 'stateless'

const widestFinding = 'amount_differs'.length
const widestProvider = 'authorize-net'.length

/** One line for an answer. */
export function resultText({ finding, payment_id, provider_id, reconciliation, problem }: ReconcileResult): string {
  const what = reconciliation ? detail(finding, reconciliation) : (problem ?? 'not asked')
  return `${finding.padEnd(widestFinding)}  ${provider_id.padEnd(widestProvider)}  ${payment_id}  ${what}`
}

function detail(finding: Finding, reconciliation: Reconciliation): string {
  const { status_before, payment, snapshot, problem } = reconciliation
  const here = `${payment.status} here`
  switch (finding) {
    case 'same':
    case 'stateless':
      return payment.status
    case 'late':
      return status_before === payment.status
        ? `${payment.status}, its intent is on record now`
        : `${status_before} -> ${payment.status}`
    case 'missing':
      return `${here}, no intent ${payment.provider_intent_id} there`
    case 'amount_differs':
      return `${amountText(payment.total_cents, payment.currency)} is due, ${reportedAmount(reconciliation)} there`
    case 'approval_waits':
      return `${here}, approved there`
    case 'conflict':
      return [here, ...(snapshot ? [`${snapshot.evidence.status} there`] : []), ...charges(reconciliation)].join(', ')
    case 'unknown':
    case 'unreachable':
      return `${here}, ${problem ?? 'the create call was not answered'}`
  }
}

function reportedAmount({ payment, snapshot }: Reconciliation): string {
  const { amount_cents, currency } = snapshot?.evidence ?? {}
  return amountText(amount_cents ?? payment.total_cents, (currency ?? payment.currency).toUpperCase())
}

/** What was charged there, if it is not the one charge that is on record here. */
function charges({ payment, snapshot }: Reconciliation): readonly string[] {
  if (!snapshot) return []
  const { status, provider_payment_id } = snapshot.evidence
  const first = status === 'succeeded' && provider_payment_id !== null ? [provider_payment_id] : []
  const charged = [...first, ...snapshot.further_charges]
  const isOnRecord = charged.length === 1 && charged[0] === payment.provider_payment_id
  if (charged.length === 0 || isOnRecord) return []
  return [`charged there: ${charged.join(' ')}`, `on record: ${payment.provider_payment_id ?? 'none'}`]
}

/** Minor units as people write them. */
function amountText(amount_cents: number, currency: string): string {
  const exponent = currencyExponent(currency)
  const digits = String(amount_cents).padStart(exponent + 1, '0')
  const whole = digits.slice(0, digits.length - exponent)
  return `${exponent === 0 ? whole : `${whole}.${digits.slice(-exponent)}`} ${currency}`
}

/** An answer as machines read it. */
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
          status: snapshot.evidence.status,
          amount_cents: snapshot.evidence.amount_cents,
          currency: snapshot.evidence.currency?.toUpperCase() ?? null,
          provider_payment_id: snapshot.evidence.provider_payment_id,
          further_charges: snapshot.further_charges,
        }
      : null,
    problem: problem ?? null,
  }
}
