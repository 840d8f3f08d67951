// The first thing to see of a payment: how much, in which state, from whom.
import type { ReactNode } from 'react'
import type { HistoryEntry, Payment } from '../../api/apiTypes.ts'
import { CustomerLink } from '../../parts/CustomerLink.tsx'
import { Money } from '../../parts/Money.tsx'
import { PaymentBadges } from '../payments/paymentColumns.tsx'
import { disputesOf, type Payer, pendingRefunds } from './moneyBack.ts'

export function PaymentSummary(props: {
  readonly payment: Payment
  readonly payer: Payer
  /** Until the moment that is shown. */
  readonly entries: readonly HistoryEntry[]
  readonly tools: ReactNode
}) {
  const { payment, payer, entries, tools } = props
  const { currency } = payment
  return (
    <section className="panel" aria-label="Summary">
      <div className="summary">
        <div className="summaryMain">
          <p className="figure">
            <Money cents={payment.amount_cents} currency={currency} />
          </p>
          <PaymentBadges payment={payment} />
        </div>
        <p className="summaryPayer">
          <PayerName payment={payment} payer={payer} />
        </p>
        <dl className="sums">
          {amountsOf(payment, entries).map(([name, cents]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Money cents={cents} currency={currency} />
              </dd>
            </div>
          ))}
        </dl>
      </div>
      {tools}
    </section>
  )
}

function PayerName({ payment, payer }: { readonly payment: Payment; readonly payer: Payer }) {
  const { userId, email, name, isErased } = payer
  if (isErased && userId === null) return 'from a payer who was erased'
  const guestEmail = payment.guest_email ?? email
  if (userId === null && guestEmail === null) return `from ${name ?? 'an anonymous payer'}`
  return (
    <>
      from {name !== null && <strong>{name}</strong>} <CustomerLink userId={userId} guestEmail={guestEmail} />
      {userId !== null && email !== null && <span className="hint"> {email}</span>}
      {isErased && <span className="hint"> whose personal data was erased</span>}
    </>
  )
}

type Sum = readonly [name: string, cents: number | null]

/** What the payment moved: only what says something. */
function amountsOf(payment: Payment, entries: readonly HistoryEntry[]): readonly Sum[] {
  const {
    amount_received_cents: received,
    amount_refunded_cents: refunded,
    amount_capturable_cents: capturable,
  } = payment
  const pending = pendingRefunds(entries)
  const disputed = disputesOf(entries).filter(({ status }) => status !== 'won')
  const disputedCents = disputed.reduce((sum, { cents }) => sum + (cents ?? 0), 0)
  const sums: readonly (Sum | false)[] = [
    ['Received', received],
    capturable > 0 && ['Can be captured', capturable],
    ['Refunded', refunded],
    pending > 0 && ['On its way back', pending],
    disputedCents > 0 && ['Disputed', disputedCents],
  ]
  return sums.filter((sum) => sum !== false)
}
