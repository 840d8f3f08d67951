// The columns of a list of payments.
import type { ListedPayment } from '../../api/apiTypes.ts'
import { providerName } from '../../format/providerTexts.ts'
import { Badge } from '../../parts/Badge.tsx'
import { CustomerLink } from '../../parts/CustomerLink.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Time } from '../../parts/Time.tsx'

export const paymentColumns: readonly Column<ListedPayment>[] = [
  {
    header: 'Payment',
    narrow: 'title',
    cell: (payment) => <span className="clamped">{paymentTitle(payment)}</span>,
    note: ({ reference_code, provider_id }) => [providerName(provider_id), reference_code].filter(Boolean).join(' · '),
  },
  {
    header: 'Payer',
    narrow: 'detail',
    cell: ({ user_id, guest_email }) => <CustomerLink userId={user_id} guestEmail={guest_email} />,
  },
  {
    header: 'Amount',
    isNumber: true,
    narrow: 'figure',
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
    note: ({ amount_cents, amount_received_cents: received, currency }) =>
      received !== 0 &&
      received !== amount_cents && (
        <>
          received <Money cents={received} currency={currency} />
        </>
      ),
  },
  { header: 'Status', cell: (payment) => <PaymentBadges payment={payment} />, narrow: 'detail' },
  { header: 'Created', cell: ({ created_at }) => <Time value={created_at} /> },
]

/** What a payment is for, or else its id. */
export const paymentTitle = ({ id, concept, description }: Pick<ListedPayment, 'id' | 'concept' | 'description'>) =>
  concept?.trim() || description?.trim() || id

type Signs = Pick<ListedPayment, 'status' | 'dispute_status' | 'amount_refunded_cents' | 'amount_received_cents'>

/** The status, and what else is remarkable. */
export function PaymentBadges({ payment }: { readonly payment: Signs & { readonly attention?: unknown } }) {
  const { status, dispute_status, amount_refunded_cents, amount_received_cents, attention } = payment
  const hasAttention = attention === true || (Array.isArray(attention) && attention.length > 0)
  return (
    <span className="badges">
      <Badge text={status} />
      {amount_refunded_cents > 0 && (
        <Badge text={amount_refunded_cents >= amount_received_cents ? 'refunded' : 'partly refunded'} tone="quiet" />
      )}
      {dispute_status !== null && (
        <Badge text={`dispute ${dispute_status}`} tone={dispute_status === 'won' ? 'good' : 'bad'} />
      )}
      {hasAttention && <Badge text="attention" tone="warn" />}
    </span>
  )
}
