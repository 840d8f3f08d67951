import type { DisputesQuery } from '../../api/apiTypes.ts'
import { oneOf, textsOf } from '../../search.ts'

export const disputeStatuses = ['open', 'won', 'lost'] as const
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

/** The filters of the list in the URL, named as those of GET /admin/disputes. */
export const disputesSearch = (search: Record<string, unknown>) =>
  textsOf(search, [...texts, 'status', 'orderBy', 'orderDir'])
export type DisputesSearch = ReturnType<typeof disputesSearch>

/** The request for a page of the list. Unknown words are left out. */
export const disputesQuery = (search: DisputesSearch): DisputesQuery => ({
  ...textsOf(search, texts),
  status: oneOf(disputeStatuses, search.status),
  orderBy: oneOf(['created_at', 'updated_at'], search.orderBy),
  orderDir: oneOf(['asc', 'desc'], search.orderDir),
  limit: 25,
})
