// The list of deliveries, newest first or by the events they came from: for operators, and as the webhook log.
import { allOf, defineQuery, type Given, type Queryable } from '@paylog/runtime/postgres/runQuery'
import { type AliasedExpression, expressionBuilder, type InferResult, type SqlBool, sql } from 'kysely'
import { type AttemptMade, type WebhookViews, webhookViews } from '../tables/views.ts'

/**
 * Settings of sessions that read the lists. The rows that an index finds are mostly in memory; without this, Postgres walks all
 * endpoints' deliveries instead of using the index of one.
 */
export const listSettings = { random_page_cost: 1.1 } as const

export const listedStatuses = ['pending', 'held', 'succeeded', 'failed'] as const

/** A delivery with the event that it came from. Columns are listed one by one, so that new ones are not shown by accident. */
const logged = [
  ...(['d.id', 'd.node as endpoint', 'd.event', 'd.provider', 'd.user_id', 'd.is_test', 'd.attempts'] as const),
  ...(['d.http_status as last_http_status', 'd.error as last_error', 'd.next_attempt_at', 'd.created_at'] as const),
  ...(['d.source_stream as stream', 'd.source_revision as revision', 'd.source_event_id as event_id'] as const),
  ...(['d.causation_id', 'd.correlation_id'] as const),
] as const
const listed = [
  ...logged,
  ...(['d.mode', 'd.status', 'd.last_attempt_at'] as const),
  sql<string | null>`nullif(d.ended_at, 'infinity')`.as('ended_at'),
] as const
const deliveries = webhookViews.selectFrom('webhooks.log as d').select(listed)

export type ListedDelivery = InferResult<typeof deliveries>[number]

export type DeliveryDetails = ListedDelivery & {
  /** The exact body of the request; null once personal data in it was erased, or when it is longer than the limit. */
  readonly body: string | null
  /** The last ones, up to the limit. With limits, only the last of all has its response. */
  readonly attempts_made: readonly AttemptMade[]
}

/** What is read of a delivery in a page of them, at most. */
export type DetailLimits = {
  /** A longer body is left out. */
  readonly bodyBytes: number
  /** Characters of the last response. */
  readonly responseLength: number
  readonly lastAttempts: number
}

/** All conditions that are set must hold. */
export type DeliveryListQuery = {
  readonly endpoint?: string | undefined
  readonly status?: ListedDelivery['status'] | undefined
  /** Only those that were attempted. Their status is that of the last attempt, whether another one is planned or not. */
  readonly isAttempted?: true | undefined
  /** The name of the webhook. */
  readonly event?: string | undefined
  readonly provider?: string | undefined
  /** Who made the payment, or requested the test. */
  readonly user_id?: string | undefined
  readonly isTest?: boolean | undefined
  /** Neither bound is included. */
  readonly createdAfter?: Date | undefined
  readonly createdBefore?: Date | undefined
  /** Of the events that they came from. */
  readonly streams?: readonly string[] | undefined
  readonly limit: number
  readonly offset?: number | undefined
  /** The last delivery of the previous page. */
  readonly after?: { readonly createdAt: Date; readonly id: string } | undefined
}

type PageValues = Omit<DeliveryListQuery, 'status' | 'after'> & {
  readonly offset: number
  /** A page may come from one part alone. */
  readonly max: number
  readonly afterTime: Date | undefined
  readonly afterId: string | undefined
  /** Leaves out deliveries that ended before, and their partitions. */
  readonly since: Date
}

/** What is searched separately, because each has its own indexes. */
type Part = 'all pending' | ListedDelivery['status']
const hasEnded = (part: Part) => part === 'succeeded' || part === 'failed'

/** The names of the endpoints with pending deliveries, one index lookup each. Of the table: the view would be planned as a whole. */
const pendingEndpoints = sql`with recursive names (name) as (
    (select node from webhooks.deliveries order by node limit 1)
    union all
    select (select d.node from webhooks.deliveries d where d.node > names.name order by d.node limit 1)
    from names where names.name is not null
  ) select name from names where name is not null`

const isPaused = sql`exists (select from webhooks.nodes e where e.name = names.name and e.disabled_at is not null)`

/** Makes expressions of a delivery. */
const d = expressionBuilder<{ readonly d: WebhookViews['webhooks.log'] }, 'd'>()

/** Whether it has ended. No partition is planned for pending ones, and no table of pending ones for the others. */
const endsAs = (isEnded: boolean) =>
  isEnded ? d('d.is_pending', '=', sql.lit(false)) : d('d.ended_at', '=', sql.lit('infinity'))

/** The newest deliveries of a part. An index has all that is compared, so no row that is skipped is read. */
function newestOf(part: Part, given: Given<PageValues>) {
  const { endpoint, event, provider, user_id, isTest, isAttempted, streams } = given
  const { createdAfter, createdBefore, afterTime, afterId, since, max } = given
  // Few rows: sorted after they were found, instead of looked for in the order of the list.
  const ofStreams = streams === undefined ? sql`` : sql`where source_stream = any(${streams}::text[]) offset 0`
  const rows: AliasedExpression<WebhookViews['webhooks.log'], 'd'> = sql<
    WebhookViews['webhooks.log']
  >`(select * from webhooks.log ${ofStreams})`.as('d')
  const isEnded = hasEnded(part)
  const newest = webhookViews
    .selectFrom(rows)
    .select(['d.id', 'd.created_at', 'd.ended_at'])
    .where(
      allOf([
        isEnded
          ? d('d.error', part === 'failed' ? 'is not' : 'is', null)
          : d('d.node', '=', sql.ref<string>('names.name')),
        isEnded && isAttempted ? d.ref('d.is_attempted') : endsAs(isEnded),
        isEnded && endpoint ? d('d.node', '=', endpoint) : undefined,
        event && d('d.event', '=', event),
        provider && d('d.provider', '=', provider),
        user_id && d('d.user_id', '=', user_id),
        // Not a parameter: the index of tests is partial.
        isTest === undefined ? undefined : d('d.is_test', '=', sql.lit(isTest)),
        createdAfter && d('d.created_at', '>', sql<string>`${createdAfter}::timestamptz`),
        createdBefore && d('d.created_at', '<', sql<string>`${createdBefore}::timestamptz`),
        afterTime && sql<SqlBool>`(d.created_at, d.id) < (${afterTime}::timestamptz, ${afterId}::uuid)`,
        d('d.ended_at', '>=', sql<string>`${since}::timestamptz`),
      ]),
    )
    .orderBy('d.created_at', 'desc')
    .orderBy('d.id', 'desc')
    .limit(max)
    .as('newest')
  if (part === 'succeeded' || part === 'failed') return webhookViews.selectFrom(newest).selectAll('newest')
  const names = endpoint ? sql`select ${endpoint}::text as name` : pendingEndpoints
  const chosen = { 'all pending': sql`true`, pending: sql`not ${isPaused}`, held: isPaused }[part]
  return webhookViews
    .selectFrom(sql<{ name: string }>`(select name from (${names}) as names where ${chosen})`.as('names'))
    .innerJoinLateral(newest, (join) => join.onTrue())
    .selectAll('newest')
}

function pageOf(given: Given<PageValues>, parts: readonly Part[]) {
  const found = parts.map((part) => newestOf(part, given)).reduce((all, part) => all.unionAll(part))
  const page = webhookViews
    .selectFrom(found.as('found'))
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(given.limit)
    .offset(given.offset)
  // Of which kind all are, where it is known: the other one is then not planned.
  const kinds = new Set(given.isAttempted ? [true, false] : parts.map(hasEnded))
  // Separate for each delivery: a join could read all partitions.
  const whole = webhookViews
    .selectFrom('webhooks.log as d')
    .selectAll()
    .where('d.id', '=', sql.ref<string>('page.id'))
    .where('d.ended_at', '=', sql.ref<string>('page.ended_at'))
    .where('d.ended_at', '>=', sql<string>`${given.since}::timestamptz`)
    .$if(kinds.size === 1, (some) => some.where(endsAs(kinds.has(true))))
    .offset(sql.lit(0))
  return webhookViews
    .selectFrom(page.as('page'))
    .innerJoinLateral(whole.as('d'), (join) => join.onTrue())
    .orderBy('page.created_at', 'desc')
    .orderBy('page.id', 'desc')
}

// No named statements: nearly all deliveries may have an event, or hardly any, and only the partitions since a time are planned.
const custom = { customPlan: true }
const page = defineQuery(
  (given: Given<PageValues>, parts: readonly Part[]) => pageOf(given, parts).select(listed),
  custom,
)
const pageWithDetails = defineQuery(
  (given: Given<PageValues & DetailLimits>, parts: readonly Part[]) =>
    pageOf(given, parts).select([
      ...logged,
      // `octet_length` does not read the text itself.
      sql<string | null>`case when octet_length(d.body) <= ${given.bodyBytes} then d.body end`.as('body'),
      sql<number | null>`octet_length(d.body)`.as('body_bytes'),
      sql<readonly AttemptMade[]>`(
        select coalesce(jsonb_agg(jsonb_build_array(made -> 0, made -> 1, made -> 2, made -> 3,
          case when attempt = d.attempts then left(made ->> 4, ${given.responseLength}::integer) end) order by attempt), '[]')
        from (
          select * from jsonb_array_elements(d.attempts_made) with ordinality as m (made, attempt)
          order by attempt desc limit ${given.lastAttempts}
        ) as latest
      )`.as('attempts_made'),
    ]),
  custom,
)

const dayMs = 86_400_000
/** A page mostly comes from the partitions of these days. Planning for all of them takes longer than the query itself. */
const recentMs = 2 * dayMs
const clockMarginMs = 3_600_000

async function readPage<Row extends { readonly created_at: string }>(
  { status, limit, offset = 0, after, ...filter }: DeliveryListQuery,
  read: (values: PageValues, parts: readonly Part[]) => Promise<Row[]>,
): Promise<Row[]> {
  const ended = ['succeeded', 'failed'] as const
  const parts = status !== undefined ? [status] : filter.isAttempted ? ended : (['all pending', ...ended] as const)
  const values = { ...filter, limit, offset, max: limit + offset, afterTime: after?.createdAt, afterId: after?.id }
  // Nothing ends before it was created, but for the clocks.
  const oldestMs = filter.createdAfter === undefined ? 0 : filter.createdAfter.getTime() - clockMarginMs
  const everything = () => read({ ...values, since: new Date(oldestMs) }, parts)
  // A payment may be of any age, and pending deliveries have no partitions.
  if (filter.streams !== undefined || !parts.some(hasEnded)) return await everything()
  const newestMs = [after?.createdAt, filter.createdBefore].flatMap((time) => time?.getTime() ?? [])
  const since = new Date(Math.min(...newestMs, Date.now()) - recentMs)
  if (since.getTime() <= oldestMs) return await everything()
  const recent = await read({ ...values, since }, parts)
  // What ended before was also created before, so it is not on a page whose last delivery is newer.
  const oldest = recent.length < limit ? undefined : recent.at(-1)
  const isWhole = oldest !== undefined && Date.parse(oldest.created_at) > since.getTime() + clockMarginMs
  return isWhole ? recent : await everything()
}

/** The newest deliveries first. */
export const listDeliveries = (db: Queryable, query: DeliveryListQuery) =>
  readPage(query, (values, parts) => page(db, values, parts))

const count = defineQuery((given: Given<PageValues>, parts: readonly Part[]) => {
  const found = parts.map((part) => newestOf(part, given)).reduce((all, part) => all.unionAll(part))
  return webhookViews.selectFrom(found.as('found')).select(({ fn }) => fn.countAll<number>().as('total'))
}, custom)

/** How many deliveries there are. It reads all of them. */
export async function countDeliveries(
  db: Queryable,
  { status, ...filter }: Omit<DeliveryListQuery, 'limit' | 'offset' | 'after'>,
): Promise<number> {
  const all = { limit: Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, offset: 0, since: new Date(0) }
  const values = { ...filter, ...all, afterTime: undefined, afterId: undefined }
  const [row] = await count(db, values, status === undefined ? ['all pending', 'succeeded', 'failed'] : [status])
  return row?.total ?? 0
}

/** The newest deliveries first, as the log has them. `body_bytes` is null once the body was erased. */
export const listLogged = (db: Queryable, query: DeliveryListQuery, limits: DetailLimits) =>
  readPage(query, (values, parts) => pageWithDetails(db, { ...values, ...limits }, parts))

const one = defineQuery(({ id }: Given<{ readonly id: string }>) =>
  deliveries.select(['d.body', 'd.attempts_made']).where('d.id', '=', id),
)

/** @returns undefined for an unknown id */
export const getDelivery = async (db: Queryable, id: string): Promise<DeliveryDetails | undefined> =>
  (await one(db, { id }))[0]

const ofStreams = defineQuery(
  ({ streams }: Given<{ readonly streams: readonly string[] }>) =>
    deliveries
      .where(sql<SqlBool>`d.source_stream = any(${streams}::text[])`)
      .orderBy('stream')
      .orderBy('revision')
      .orderBy('endpoint')
      .orderBy('event')
      .orderBy('id'),
  custom,
)

/** All deliveries of the events of some streams, in the order of each stream's events. */
export const deliveriesOfStreams = (db: Queryable, streams: readonly string[]) => ofStreams(db, { streams })
