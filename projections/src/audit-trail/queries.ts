// Queries for the audit trail.
import type { AuditTrailEntry } from '@paylog/domain/auditTrail'
import type { PagePosition } from '@paylog/runtime/http/cursor'
import { sql } from 'kysely'
import { afterPosition, type NextPage, newestFirst, ordered } from '../queries/listPage.ts'
import { prepareQuery, type Queryable, type QueryParameters, queryBuilder } from '../queries/namedQuery.ts'
import type { AuditTrailRecord } from './projection.ts'

const views = queryBuilder<{ readonly audit_trail: AuditTrailRecord }>('read_models')

type Filters = {
  readonly action?: string | undefined
  readonly actor?: string | undefined
  /** The id of the target. */
  readonly target?: string | undefined
  /** Both bounds are exclusive. */
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
}

export type AuditTrailQuery = Filters & {
  readonly limit: number
  /** Where the page begins; undefined for the first. */
  readonly after?: PagePosition | undefined
}

type Values = Filters & {
  readonly limit: number
  readonly after_value?: PagePosition['value'] | undefined
  readonly after_id?: string | undefined
}

const columns = ['id', 'action', 'target_kind', 'target_id', 'actor', 'reason', 'details', 'created_at'] as const

const auditTrailPage = prepareQuery(
  (parameters: QueryParameters<Values>) => {
    const { action, actor, target, created_after, created_before, limit, after_value, after_id } = parameters
    let query = views.selectFrom('audit_trail').select(columns)
    if (action !== undefined) query = query.where('action', '=', action)
    if (actor !== undefined) query = query.where('actor', '=', actor)
    if (target !== undefined) query = query.where('target_id', '=', target)
    if (created_after !== undefined) query = query.where(createdAt, '>', created_after)
    if (created_before !== undefined) query = query.where(createdAt, '<', created_before)
    if (after_value !== undefined && after_id !== undefined)
      query = afterPosition(query, { after_value, after_id }, newestFirst)
    return ordered(query, newestFirst).limit(limit)
  },
  { customPlan: true },
)

/** Compared with `Date`, although results have ISO text. */
const createdAt = sql<Date>`created_at`

/** Newest first. The audit trail has no owners: the caller must be an administrator. */
export async function listAuditTrail(
  db: Queryable,
  { limit, after, ...filters }: AuditTrailQuery,
): Promise<NextPage<AuditTrailEntry>> {
  const rows = await auditTrailPage(
    db,
    { ...filters, limit: limit + 1, after_value: after?.value, after_id: after?.id },
    {},
  )
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const next = rows.length > limit && last !== undefined ? { value: last.created_at, id: last.id } : null
  return { items: page.map(entryOf), next }
}

const entryOf = ({
  target_kind: kind,
  target_id: id,
  ...entry
}: Pick<AuditTrailRecord, (typeof columns)[number]>): AuditTrailEntry => ({
  ...entry,
  target: kind === null || id === null ? null : { kind, id },
})
