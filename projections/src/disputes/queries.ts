// Queries for disputes.

import { DisputeResource } from '@paylog/domain/payments/disputes'
import type { DisputeStatus } from '@paylog/domain/payments/events'
import type { PagePosition } from '@paylog/runtime/http/cursor'
import { afterPosition, type NextPage, newestFirst, ordered } from '../queries/listPage.ts'
import { prepareQuery, type Queryable, type QueryParameters, queryBuilder } from '../queries/namedQuery.ts'
import { resourceOf, shownColumns } from '../queries/resources.ts'
import { type DisputeRecord, disputeColumns } from './projection.ts'

const views = queryBuilder<{ readonly disputes: DisputeRecord }>('read_models')
const shown = shownColumns(DisputeResource, disputeColumns)
const disputeOf = resourceOf(DisputeResource)

export type DisputesQuery = {
  readonly status?: DisputeStatus | undefined
  readonly limit: number
  /** Where the page begins; undefined for the first. */
  readonly after?: PagePosition | undefined
}

type Values = Pick<DisputesQuery, 'status' | 'limit'> & {
  readonly after_value?: PagePosition['value'] | undefined
  readonly after_id?: string | undefined
}

const disputesPage = prepareQuery(
  ({ status, limit, after_value, after_id }: QueryParameters<Values>) => {
    let query = views.selectFrom('disputes').select(shown)
    if (status !== undefined) query = query.where('status', '=', status)
    if (after_value !== undefined && after_id !== undefined)
      query = afterPosition(query, { after_value, after_id }, newestFirst)
    return ordered(query, newestFirst).limit(limit)
  },
  { customPlan: true },
)

/** Newest first. Disputes have no owner: the caller must be an administrator. */
export async function listDisputes(
  db: Queryable,
  { status, limit, after }: DisputesQuery,
): Promise<NextPage<DisputeResource>> {
  const values = { status, limit: limit + 1, after_value: after?.value, after_id: after?.id }
  const rows = await disputesPage(db, values, {})
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const next = rows.length > limit && last !== undefined ? { value: last.created_at, id: last.id } : null
  return { items: page.map(disputeOf), next }
}
