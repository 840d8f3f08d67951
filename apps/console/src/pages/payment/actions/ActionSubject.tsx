// Whom an action is about, and how much.
import type { HistoryEntry, Payment } from '../../../api/apiTypes.ts'
import { Facts } from '../../../parts/Facts.tsx'
import { Money } from '../../../parts/Money.tsx'
import { type Payer, payerOf } from '../moneyBack.ts'

/** The payer in words. */
function payerText({ name, email, userId }: Payer, payment: Payment): string {
  const address = email ?? payment.guest_email ?? (userId === null ? null : `user ${userId}`)
  if (address === null) return name ?? 'unknown payer'
  return name === null ? address : `${name} (${address})`
}

/** @param props `amounts` in the payment's currency, each with its name, for example "Refund"; false is left out */
export function ActionSubject(props: {
  readonly payment: Payment
  readonly entries: readonly HistoryEntry[]
  readonly amounts: readonly (readonly [name: string, cents: number | null] | false)[]
}) {
  const { payment, entries, amounts } = props
  return (
    <Facts
      facts={[
        ...amounts
          .filter((amount) => amount !== false)
          .map(([name, cents]) => [name, <Money key={name} cents={cents} currency={payment.currency} />] as const),
        [
          'Payer',
          <span key="p" className="clamped">
            {payerText(payerOf(entries), payment)}
          </span>,
        ],
        [
          'Payment',
          <span key="c" className="clamped">
            {payment.concept ?? payment.description ?? payment.id}
          </span>,
        ],
      ]}
    />
  )
}
