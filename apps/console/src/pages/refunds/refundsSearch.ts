import type { RefundsQuery } from '../../api/apiTypes.ts'
import { oneOf, textsOf } from '../../search.ts'

export const refundStatuses = ['pending', 'succeeded', 'failed'] as const
const texts = [
  'provider_id',
  'currency',
  'payment_id',
  'user_id',
  'guest_email',
  'created_at_from',
  'created_at_to',
  'reported_in',
  'cursor',
] as const

/** The filters of the list in the URL, named as those of GET /admin/refunds. */
export const refundsSearch = (search: Record<string, unknown>) =>
  textsOf(search, [...texts, 'status', 'orderBy', 'orderDir'])
export type RefundsSearch = ReturnType<typeof refundsSearch>

/** The request for a page of the list. Unknown words are left out. */
export const refundsQuery = (search: RefundsSearch): RefundsQuery => ({
  ...textsOf(search, texts),
  status: oneOf(refundStatuses, search.status),
  orderBy: oneOf(['created_at', 'updated_at'], search.orderBy),
  orderDir: oneOf(['asc', 'desc'], search.orderDir),
  limit: 25,
})
