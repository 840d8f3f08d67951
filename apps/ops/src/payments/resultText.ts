// Prints one result of a reconciliation, as text and as JSON.

import type { Reconciliation } from '@paylog/commands/payments/reconcilePayment'
import { currencyExponent } from '@paylog/domain/currency'
import type { IntentSnapshot } from '@paylog/providers/provider'
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

/** Minor units with the decimals of the currency. */
export function amountText(amount_cents: number, currency: string): string {
  const exponent = currencyExponent(currency)
  const digits = String(amount_cents).padStart(exponent + 1, '0')
  const whole = digits.slice(0, digits.length - exponent)
  return `${exponent === 0 ? whole : `${whole}.${digits.slice(-exponent)}`} ${currency}`
}

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
