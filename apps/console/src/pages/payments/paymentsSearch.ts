import type { PaymentsQuery } from '../../api/apiTypes.ts'
import { oneOf, textsOf } from '../../search.ts'

export const statuses = ['pending', 'processing', 'succeeded', 'failed', 'canceled'] as const
const flags = ['true', 'false'] as const
const texts = [
  'search',
  'provider_id',
  'user_id',
  'guest_email',
  'reference_code',
  'currency',
  'created_at_from',
  'created_at_to',
  'reported_in',
  'cursor',
] as const
const others = [
  'status',
  'refunded',
  'disputed',
  'attention',
  'amount_from',
  'amount_to',
  'orderBy',
  'orderDir',
] as const

/** The filters of the list in the URL, named as those of GET /admin/payments. */
export const paymentsSearch = (search: Record<string, unknown>) => textsOf(search, [...texts, ...others])
export type PaymentsSearch = ReturnType<typeof paymentsSearch>

const pageSize = 25

/** The request for a page of the list. Unknown words are left out. */
export const paymentsQuery = (search: PaymentsSearch): PaymentsQuery => ({
  ...textsOf(search, texts),
  status: oneOf(statuses, search.status),
  refunded: oneOf(flags, search.refunded),
  disputed: oneOf(flags, search.disputed),
  attention: oneOf(flags, search.attention),
  amount_from: amountOf(search.amount_from),
  amount_to: amountOf(search.amount_to),
  orderBy: oneOf(['created_at', 'updated_at', 'amount_cents'], search.orderBy),
  orderDir: oneOf(['asc', 'desc'], search.orderDir),
  limit: pageSize,
})

function amountOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
