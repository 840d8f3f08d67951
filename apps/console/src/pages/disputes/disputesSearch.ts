import { oneOf, textsOf } from '../../search.ts'

export const disputeStatuses = ['open', 'won', 'lost'] as const

/** The filters of the list in the URL, named as those of GET /admin/disputes. */
export const disputesSearch = (search: Record<string, unknown>) => textsOf(search, ['status', 'cursor'])
export type DisputesSearch = ReturnType<typeof disputesSearch>

/** Unknown words are left out. */
export const disputesQuery = ({ status, cursor }: DisputesSearch) => ({
  status: oneOf(disputeStatuses, status),
  cursor,
  limit: 25,
})
