// Whom an action is about, and how much.
import type { Payment } from '../../../api/apiTypes.ts'
import { Facts } from '../../../parts/Facts.tsx'
import { Money } from '../../../parts/Money.tsx'
import type { Payer } from '../moneyBack.ts'

/** The payer in words. */
function payerText({ name, email, userId }: Payer, payment: Payment): string {
  const address = email ?? payment.guest_email ?? (userId === null ? null : `user ${userId}`)
  if (address === null) return name ?? 'unknown payer'
  return name === null ? address : `${name} (${address})`
}

/** @param props `amountName` says what the amount is, for example "Refund" */
export function ActionSubject(props: {
  readonly payment: Payment
  readonly payer: Payer
  readonly amountName: string
  readonly cents: number | null
}) {
  const { payment, payer, amountName, cents } = props
  return (
    <Facts
      facts={[
        [amountName, <Money key="m" cents={cents} currency={payment.currency} />],
        [
          'Payer',
          <span key="p" className="clamped">
            {payerText(payer, payment)}
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
