// The shown payments as CSV.
import type { ListedPayment } from '../../api/apiTypes.ts'
import { type CsvColumn, csvOf } from '../../format/csv.ts'
import { decimalOf } from '../../format/money.ts'

const text = (name: keyof ListedPayment): CsvColumn<ListedPayment> => ({
  header: name,
  value: (payment) => payment[name],
})
const amount = (header: string, name: 'amount_cents' | 'amount_received_cents' | 'amount_refunded_cents') => ({
  header,
  value: (payment: ListedPayment) => decimalOf(payment[name], payment.currency),
})

const columns: readonly CsvColumn<ListedPayment>[] = [
  text('id'),
  text('created_at'),
  text('updated_at'),
  text('completed_at'),
  text('status'),
  text('currency'),
  amount('amount', 'amount_cents'),
  amount('amount_received', 'amount_received_cents'),
  amount('amount_refunded', 'amount_refunded_cents'),
  text('provider_id'),
  text('user_id'),
  text('guest_email'),
  text('reference_code'),
  text('concept'),
  text('description'),
  text('category'),
  text('tags'),
  text('dispute_status'),
  text('attention'),
]

/** One line for each payment, with amounts in major units and times in UTC. */
export const paymentsCsv = (payments: readonly ListedPayment[]): string => csvOf(columns, payments)
