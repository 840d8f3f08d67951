// The columns of a list of payments.
import { Link } from '@tanstack/react-router'
import type { ListedPayment } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { OwnerLink } from '../../parts/OwnerLink.tsx'
import { Dash, Time } from '../../parts/Time.tsx'

export const paymentColumns: readonly Column<ListedPayment>[] = [
  { header: 'Created', cell: ({ created_at }) => <Time value={created_at} /> },
  { header: 'Payment', cell: (payment) => <PaymentLink payment={payment} /> },
  { header: 'Payer', cell: ({ user_id, guest_email }) => <OwnerLink userId={user_id} guestEmail={guest_email} /> },
  {
    header: 'Amount',
    isNumber: true,
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
  },
  { header: 'Status', cell: (payment) => <PaymentBadges payment={payment} /> },
  { header: 'Provider', isShort: true, cell: ({ provider_id }) => provider_id },
  {
    header: 'Reference',
    cell: ({ reference_code }) =>
      reference_code === null ? <Dash /> : <span className="clamped">{reference_code}</span>,
  },
]

export function PaymentLink({ payment: { id, concept, description } }: { readonly payment: ListedPayment }) {
  return (
    <Link to="/payments/$id" params={{ id }} className="rowLink">
      {concept?.trim() || description?.trim() || id}
    </Link>
  )
}

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
