// Pages of deliveries, newest first: for operators, and for the webhook log. And the rows of single deliveries.
import { type Given, type Query, type Queryable, runQuery } from '@paylog/runtime/postgres/runQuery'
import { type AliasedExpression, type Expression, expressionBuilder, type InferResult, type SqlBool, sql } from 'kysely'
import { type WebhookTables, webhookTables } from '../tables/columns.ts'

export const listedStatuses = ['pending', 'held', 'succeeded', 'failed'] as const
/** `held` is no status of a row: it is pending, and not sent before its endpoint is enabled again. */
export type ListedStatus = (typeof listedStatuses)[number]

/** What pending and finished deliveries have in common, without what may be long. */
const shared = [
  'd.id',
  'd.node as endpoint',
  'd.event',
  'd.mode',
  'd.provider',
  'd.user_id',
  'd.is_test',
  'd.attempts',
  'd.last_http_status',
  'd.last_error',
  'd.created_at',
  'd.source_stream as stream',
  'd.source_revision as revision',
  'd.source_event_id as event_id',
  'd.causation_id',
  'd.correlation_id',
] as const

export const pendingRows = webhookTables
  .selectFrom('webhooks.deliveries as d')
  .leftJoin('webhooks.nodes as e', 'e.name', 'd.node')
  .select([...shared, 'd.body', 'd.attempts_made'])
  .select([
    sql<ListedStatus>`case when e.disabled_at is null then 'pending' else 'held' end`.as('status'),
    'd.last_attempt_at',
    // No attempt is planned while the endpoint is paused or not configured.
    sql<string | null>`case when e.disabled_at is null and e.is_configured is not false then d.next_attempt_at end`.as(
      'next_attempt_at',
    ),
    sql<string | null>`null::timestamptz`.as('ended_at'),
  ])

export const finishedRows = webhookTables
  .selectFrom('webhooks.finished_deliveries as d')
  .select([...shared, 'd.body', 'd.attempts_made'])
  .select([
    sql<ListedStatus>`case when d.last_error is null then 'succeeded' else 'failed' end`.as('status'),
    sql<string | null>`d.last_attempt_at`.as('last_attempt_at'),
    sql<string | null>`null::timestamptz`.as('next_attempt_at'),
    sql<string | null>`d.ended_at`.as('ended_at'),
  ])

/** A delivery, pending or finished, with the event that it came from. The body is null once personal data in it was erased. */
export type Delivery = InferResult<typeof pendingRows>[number]
export type ListedDelivery = Omit<Delivery, 'body' | 'attempts_made'>

const names = shared.map((column) => column.split(/ as |^d\./).at(-1))
/** The columns of a `ListedDelivery`. */
export const listedColumns = [...names, 'status', 'last_attempt_at', 'next_attempt_at', 'ended_at'].map(
  (name) => `delivery.${name}`,
) as `delivery.${keyof ListedDelivery}`[]

/** All conditions that are set must hold. */
export type DeliveryFilter = {
  readonly endpoint?: string | undefined
  readonly status?: ListedStatus | undefined
  /** Only those that were attempted, by how the last attempt ended; instead of a status. */
  readonly attempted?: 'any' | 'success' | 'failed' | undefined
  /** The name of the webhook. */
  readonly event?: string | undefined
  readonly provider?: string | undefined
  /** Who made the payment, or requested the test. */
  readonly user_id?: string | undefined
  readonly isTest?: boolean | undefined
  /** Of the events that they came from. */
  readonly streams?: readonly string[] | undefined
}

export type DeliveryListQuery = DeliveryFilter & {
  readonly limit: number
  readonly offset?: number | undefined
  /** The last delivery of the previous page. */
  readonly after?: { readonly createdAt: Date; readonly id: string } | undefined
}

/** What is searched separately, because each has its own indexes. */
type Part = 'pending' | 'held' | 'waiting' | 'retried' | 'redelivered' | 'succeeded' | 'failed'

const isFinished = (part: Part) => part === 'succeeded' || part === 'failed'

function partsOf({ status, attempted }: DeliveryFilter): readonly Part[] {
  if (attempted === 'success') return ['redelivered', 'succeeded']
  if (attempted === 'failed') return ['retried', 'failed']
  if (attempted === 'any') return ['redelivered', 'succeeded', 'retried', 'failed']
  return status === undefined ? ['waiting', 'succeeded', 'failed'] : [status]
}

const compared = ['endpoint', 'event', 'provider', 'user_id', 'streams', 'offset', 'after'] as const

/** What all queries with the same text have in common. */
export function deliveryShape(query: DeliveryListQuery) {
  return { parts: partsOf(query), set: compared.filter((name) => query[name] !== undefined), isTest: query.isTest }
}
export type DeliveryShape = ReturnType<typeof deliveryShape>

export type PageInput = {
  readonly query: DeliveryListQuery
  /** Leaves out deliveries that ended before, and their partitions. */
  readonly since: Date
}
type EitherRow = WebhookTables['webhooks.deliveries' | 'webhooks.finished_deliveries']

/** The conditions on a delivery in either table. */
function conditionsOf(given: Given<PageInput>, { set, isTest }: DeliveryShape): Expression<SqlBool>[] {
  const delivery = expressionBuilder<WebhookTables & { readonly d: EitherRow }, 'd'>()
  const createdAt = given(({ query }) => query.after?.createdAt)
  const id = given(({ query }) => query.after?.id)
  const conditions = {
    event: delivery(
      'd.event',
      '=',
      given(({ query: { event = '' } }) => event),
    ),
    provider: delivery(
      'd.provider',
      '=',
      given(({ query: { provider = '' } }) => provider),
    ),
    user_id: delivery(
      'd.user_id',
      '=',
      given(({ query: { user_id = '' } }) => user_id),
    ),
    after: sql<SqlBool>`(d.created_at, d.id) < (${createdAt}::timestamptz, ${id}::uuid)`,
  }
  const named = Object.entries(conditions).filter(([name]) => set.some((each) => each === name))
  // Not a parameter: the index of tests is partial.
  const tests = isTest === undefined ? [] : [isTest ? sql<SqlBool>`d.is_test` : sql<SqlBool>`not d.is_test`]
  return [...named.map(([, condition]) => condition), ...tests]
}

/** The ids of the deliveries of a part: an index has all that is compared, so no row that is skipped is read. */
function idsOf(part: Part, given: Given<PageInput>, shape: DeliveryShape) {
  const conditions = conditionsOf(given, shape)
  const endpoint = shape.set.includes('endpoint') ? given(({ query }) => query.endpoint ?? '') : undefined
  // Few rows: sorted after they were found, instead of looked for in the order of the list.
  const ofStreams = shape.set.includes('streams')
    ? sql`where source_stream = any(${given(({ query }) => query.streams)}::text[]) offset 0`
    : sql``
  const rowsOf = <Name extends keyof WebhookTables>(name: Name): AliasedExpression<WebhookTables[Name], 'd'> =>
    sql<WebhookTables[Name]>`(select * from ${sql.table(name)} ${ofStreams})`.as('d')
  const never = sql<string | null>`null::timestamptz`.as('ended_at')

  if (isFinished(part))
    return webhookTables
      .selectFrom(rowsOf('webhooks.finished_deliveries'))
      .select(['d.id', 'd.created_at', sql<string | null>`d.ended_at`.as('ended_at')])
      .where('d.last_error', part === 'failed' ? 'is not' : 'is', null)
      .where('d.ended_at', '>=', sinceOf(given))
      .where(({ and, eb }) => and([...(endpoint ? [eb('d.node', '=', endpoint)] : []), ...conditions]))

  if (part === 'retried' || part === 'redelivered')
    return webhookTables
      .selectFrom(rowsOf('webhooks.deliveries'))
      .select(['d.id', 'd.created_at', never])
      .where('d.attempts', '>', sql.lit(0))
      .where('d.last_error', part === 'retried' ? 'is not' : 'is', null)
      .where(({ and, eb }) => and([...(endpoint ? [eb('d.node', '=', endpoint)] : []), ...conditions]))

  const names = sql<{ name: string }>`(${endpoint ? sql`select ${endpoint}::text as name` : pendingEndpoints})`
  return webhookTables
    .selectFrom(names.as('names'))
    .leftJoin('webhooks.nodes as e', 'e.name', 'names.name')
    .innerJoinLateral(
      ({ selectFrom }) =>
        selectFrom(rowsOf('webhooks.deliveries'))
          .select(['d.id', 'd.created_at'])
          .whereRef('d.node', '=', 'names.name')
          .where(({ and }) => and(conditions))
          .orderBy('d.created_at', 'desc')
          .orderBy('d.id', 'desc')
          .limit(maxOf(given))
          .as('d'),
      (join) => join.onTrue(),
    )
    .select(['d.id', 'd.created_at', never])
    .$if(part !== 'waiting', (found) => found.where('e.disabled_at', part === 'held' ? 'is not' : 'is', null))
}

/** A page may come from one part alone. */
const maxOf = (given: Given<PageInput>) => given(({ query: { limit, offset = 0 } }) => limit + offset)

/** The names of the endpoints with pending deliveries, one index lookup each. */
const pendingEndpoints = sql`with recursive names (name) as (
    (select node from webhooks.deliveries order by node limit 1)
    union all
    select (select d.node from webhooks.deliveries d where d.node > names.name order by d.node limit 1)
    from names where names.name is not null
  ) select name from names where name is not null`

const sinceOf = (given: Given<PageInput>) => sql<string>`${given(({ since }) => since)}::timestamptz`

/**
 * Composes a page of deliveries, newest first, each as `delivery`.
 * @param shape from `deliveryShape`
 */
export function composePage(given: Given<PageInput>, shape: DeliveryShape) {
  const newestOf = (part: Part) => {
    const ids = webhookTables.selectFrom(idsOf(part, given, shape).as('part')).selectAll()
    return ids.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(maxOf(given))
  }
  const found = shape.parts
    .map((part) => webhookTables.selectFrom(newestOf(part).as('newest')).selectAll())
    .reduce((all, part) => all.unionAll(part))
  const paged = webhookTables
    .selectFrom(found.as('found'))
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(given(({ query }) => query.limit))
    .$if(shape.set.includes('offset'), (page) => page.offset(given(({ query }) => query.offset ?? 0)))
  const id = sql.ref<string>('paged.id')
  const pending = pendingRows.where('d.id', '=', id)
  const finished = finishedRows
    .where('d.id', '=', id)
    .where('d.ended_at', '=', sql.ref<string>('paged.ended_at'))
    .where('d.ended_at', '>=', sinceOf(given))
  const areFinished = shape.parts.map(isFinished)
  const whole = areFinished.every(Boolean)
    ? finished
    : areFinished.some(Boolean)
      ? pending.where(sql<SqlBool>`paged.ended_at is null`).unionAll(finished)
      : pending
  return (
    webhookTables
      .selectFrom(paged.as('paged'))
      // Separate for each delivery: a join could read all partitions.
      .innerJoinLateral(whole.offset(sql.lit(0)).as('delivery'), (join) => join.onTrue())
      .orderBy('paged.created_at', 'desc')
      .orderBy('paged.id', 'desc')
  )
}

/** Composes a single delivery, as `delivery`. */
export function composeOne(given: Given<{ readonly id: string }>) {
  const id = given((query) => query.id)
  return webhookTables.selectFrom(
    pendingRows
      .where('d.id', '=', id)
      .unionAll(finishedRows.where('d.id', '=', id))
      .as('delivery'),
  )
}

const dayMs = 86_400_000
/** A page mostly comes from the partitions of these days. Planning for all of them takes longer than the query itself. */
const recentMs = 2 * dayMs
const clockMarginMs = 3_600_000

/**
 * Reads a page of deliveries, the newest first.
 * @param page a query that `composePage` composed, for the shape of this one. It is no named statement: nearly all deliveries may
 *   have an event, or hardly any, and only the partitions since a time are planned
 */
export async function readPage<Row extends { readonly created_at: string }>(
  db: Queryable,
  page: Query<PageInput, Row>,
  query: DeliveryListQuery,
): Promise<Row[]> {
  const read = (since: Date) => runQuery(db, page, { query, since }, { customPlan: true })
  // A payment may be of any age.
  if (query.streams !== undefined) return await read(new Date(0))
  const start = Math.min(query.after?.createdAt.getTime() ?? Number.POSITIVE_INFINITY, Date.now())
  const since = new Date(start - recentMs)
  const recent = await read(since)
  // What ended before was also created before, so it is not on a page whose last delivery is newer.
  const oldest = recent.length < query.limit ? undefined : recent.at(-1)
  const isWhole = oldest !== undefined && Date.parse(oldest.created_at) > since.getTime() + clockMarginMs
  return isWhole ? recent : await read(new Date(0))
}
