// Lists deliveries, newest first or by the events they came from, for operators.
import { compileQuery, type Given, type Queryable, queriesByShape, runQuery } from '@paylog/runtime/postgres/runQuery'
import { type SqlBool, sql } from 'kysely'
import { webhookTables } from '../tables/columns.ts'
import {
  composeOne,
  composePage,
  type Delivery,
  type DeliveryListQuery,
  type DeliveryShape,
  deliveryShape,
  finishedRows,
  type ListedDelivery,
  listedColumns,
  type PageInput,
  pendingRows,
  readPage,
} from './deliveryPages.ts'

/**
 * Settings of sessions that read the lists. Compiling a plan over ninety partitions takes seconds. The rows that an index finds are
 * mostly in memory; without this, Postgres walks all endpoints' deliveries instead of using the index of one.
 */
export const listSettings = '-c jit=off -c random_page_cost=1.1'

/** Exported so that a test can check its plans. */
export const listQuery = queriesByShape((given: Given<PageInput>, shape: DeliveryShape) =>
  composePage(given, shape).select(listedColumns),
)

/** The newest deliveries first. */
export const listDeliveries = (db: Queryable, query: DeliveryListQuery): Promise<ListedDelivery[]> =>
  readPage(db, listQuery(deliveryShape(query)), query)

const detailsQuery = compileQuery((given: Given<{ readonly id: string }>) =>
  composeOne(given).selectAll(),
)

/** @returns undefined for an unknown id */
export async function getDelivery(db: Queryable, id: string): Promise<Delivery | undefined> {
  const [found] = await runQuery(db, detailsQuery, { id })
  return found
}

/** Exported so that a test can check its plan. */
export const ofStreamsQuery = compileQuery((given: Given<readonly string[]>) => {
  const isOfStreams = sql<SqlBool>`d.source_stream = any(${given((streams) => streams)}::text[])`
  return webhookTables
    .selectFrom(pendingRows.where(isOfStreams).unionAll(finishedRows.where(isOfStreams)).as('delivery'))
    .select(listedColumns)
    .orderBy('stream')
    .orderBy('revision')
    .orderBy('endpoint')
    .orderBy('event')
    .orderBy('id')
})

/** All deliveries of the events of some streams, in the order of each stream's events. */
export const deliveriesOfStreams = (db: Queryable, streams: readonly string[]): Promise<ListedDelivery[]> =>
  runQuery(db, ofStreamsQuery, streams, { customPlan: true })
