// Random histories of all projections: read models and responses equal the fold of the log for every delivery of it.

import { isDeepStrictEqual } from 'node:util'
import { recordedOwner } from '@paylog/domain/actor'
import { addressFold, addressResource } from '@paylog/domain/addresses/address'
import type { LogCheckpoint } from '@paylog/domain/events'
import { paymentMethodFold, paymentMethodResource } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentResource } from '@paylog/domain/payments/resource'
import { productFold, productResource } from '@paylog/domain/products/product'
import { addressList } from '@paylog/queries/addresses/queries'
import type { List } from '@paylog/queries/lists/defineList'
import { readItem } from '@paylog/queries/lists/lists'
import { paymentMethodList } from '@paylog/queries/payment-methods/queries'
import { singlePayment } from '@paylog/queries/payments/queries'
import { productList } from '@paylog/queries/products/queries'
import { testCycles } from '@paylog/testing/testEnvironment'
import fc from 'fast-check'
import type { Pool } from 'pg'
import t from 'tap'
import { createApplier } from './apply/applier.ts'
import { checkpointName } from './apply/checkpoints.ts'
import { copyRows } from './apply/writers.ts'
import type { Projection } from './projection.ts'
import { projections } from './registry.ts'
import { makeTable, tableName } from './tables/tables.ts'
import { differenceOf, foldedRows, tableRows } from './testing/expectedRows.ts'
import { histories } from './testing/historyArbitraries.ts'
import type { LogFixture } from './testing/logFixture.ts'
import { readModelDatabase, resetCheckpoints } from './testing/projectionHarness.ts'

const numRuns = testCycles(25)

/** How the log is delivered: in batches of these sizes, with some overlap, and appliers that die. */
const delivery = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 6 }),
  repeated: fc.array(fc.constantFrom(0, 0, 0, 1, 7), { minLength: 1, maxLength: 5 }),
  /** How many batches the next applier goes back after each death; undefined for no deaths. */
  falls: fc.array(fc.option(fc.nat(4), { freq: 4, nil: undefined }), { minLength: 1, maxLength: 8 }),
  /** Whether the table is copied after all erasures. */
  isCopiedLate: fc.boolean(),
})
type Delivery = typeof delivery extends fc.Arbitrary<infer A> ? A : never

const nth = <Item>(items: readonly Item[], index: number) => items[index % items.length]

async function applyInWindows(pool: Pool, projection: Projection, log: LogFixture, arriving: Delivery): Promise<void> {
  const ends: number[] = []
  for (let from = 0; from < log.events.length; from = ends.at(-1) ?? 0)
    ends.push(from + (nth(arriving.sizes, ends.length) ?? 1))
  const reader = log.reader()
  const restart = async () => {
    const applier = createApplier({ pool, projection, version: 1, source: reader })
    await applier.start()
    return applier
  }
  let applier = await restart()
  let deaths = 0
  for (let turn = 0; turn < ends.length; turn += 1) {
    const from = (ends[turn - 1] ?? 0) - (nth(arriving.repeated, turn) ?? 0)
    await applier.apply(reader.batch(Math.max(from, 0), ends[turn]))
    const back = deaths < 4 ? nth(arriving.falls, turn) : undefined
    if (back === undefined) continue
    deaths += 1
    turn = Math.max(turn - back - 1, -1)
    await resetCheckpoint(pool, projection, turn < 0 ? undefined : log.batch(0, ends[turn]).position)
    applier = await restart()
  }
}

/** Resets a checkpoint, like restoring an older database. */
async function resetCheckpoint(pool: Pool, projection: Projection, position?: LogCheckpoint): Promise<void> {
  await pool.query(
    'update read_models.checkpoints set commit_position = $2, prepare_position = $2, event_id = $3 where name = $1',
    [checkpointName(projection, 1), position?.commit, position?.eventId],
  )
}

async function copyInWindows(
  pool: Pool,
  projection: Projection,
  log: LogFixture,
  { sizes, isCopiedLate }: Delivery,
): Promise<void> {
  const reader = isCopiedLate ? log.lateReader() : log.reader()
  const applier = createApplier({ pool, projection, version: 2, source: reader, writer: copyRows })
  await applier.start()
  for (let from = 0, turn = 0; from < log.events.length; turn += 1) {
    const to = from + (nth(sizes, turn) ?? 1)
    await applier.apply(reader.batch(from, to))
    from = to
  }
}

async function contentOf(pool: Pool, projection: Projection, version: number): Promise<string> {
  const { rows } = await pool.query<{ text: string }>(
    `select t::text as text from read_models.${tableName(projection, version)} as t order by id`,
  )
  return JSON.stringify(rows)
}

type Response = { readonly owner?: string | null; readonly item: object | undefined }

/** The response to a GET of a row, and who may read it, from the folded state of its stream. */
const responses: Readonly<Record<string, { readonly list: List; of(log: LogFixture, id: string): Response }>> = {
  payments: {
    list: singlePayment,
    of(log, id) {
      const state = log.state(id)
      if (state.status === 'none') return { item: undefined }
      const { payer, guest_email } = state
      return { owner: recordedOwner({ user_id: payer.id, guest_email }), item: paymentResource(state, null) }
    },
  },
  payment_methods: {
    list: paymentMethodList,
    of(log, id) {
      const state = log.stateOf(paymentMethodFold, id)
      if (state.status === 'none') return { item: undefined }
      const item = state.status === 'saved' ? paymentMethodResource(state, false) : undefined
      return { owner: recordedOwner(state), item }
    },
  },
  addresses: {
    list: addressList,
    of(log, id) {
      const state = log.stateOf(addressFold, id)
      if (state.status === 'none') return { item: undefined }
      return { owner: recordedOwner(state), item: state.status === 'kept' ? addressResource(state, false) : undefined }
    },
  },
  products: {
    list: productList,
    of(log, id) {
      const state = log.stateOf(productFold, id)
      return { item: state.status === 'kept' ? productResource(state) : undefined }
    },
  },
}

/** As Postgres has it: its text has neither NUL nor lone surrogates. */
const stored = (item: object) =>
  Object.fromEntries(
    Object.entries<unknown>(JSON.parse(JSON.stringify(item))).map(([field, value]) => [
      field,
      typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value,
    ]),
  )

/** Compares GETs of all rows. Those of an erased owner cannot be read. */
async function wrongResponse(pool: Pool, { name }: Projection, log: LogFixture, ids: Iterable<string>) {
  const { list, of } = responses[name] ?? {}
  if (list === undefined || of === undefined) return undefined
  for (const id of ids) {
    const { owner, item } = of(log, id)
    if (owner === null) continue
    const found = (await readItem(pool, list, { id, owner }))?.item
    // What the tables of other projections decide.
    const shown = found && 'is_default' in found ? { ...found, is_default: false } : found
    const expected = item && stored(item)
    if (!isDeepStrictEqual(shown, expected))
      return `GET ${id} returns ${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`
  }
  return undefined
}

async function problemOf(pool: Pool, log: LogFixture, arriving: Delivery): Promise<string | undefined> {
  for (const projection of projections) {
    await pool.query(`truncate ${[1, 2].map((version) => `read_models.${tableName(projection, version)}`).join(', ')}`)
    await resetCheckpoints(pool)
    await applyInWindows(pool, projection, log, arriving)
    await copyInWindows(pool, projection, log, arriving)
    const expected = foldedRows(projection, log.lateReader().events())
    const difference = differenceOf(await tableRows(pool, projection, tableName(projection, 1)), expected)
    if (difference !== undefined) return `${projection.name}: ${difference}`
    if ((await contentOf(pool, projection, 1)) !== (await contentOf(pool, projection, 2))) {
      return `${projection.name}: copied rows differ from inserted rows`
    }
    const wrong = await wrongResponse(pool, projection, log, expected.keys())
    if (wrong !== undefined) return wrong
  }
  return undefined
}

t.test(
  'every read model equals the fold of the log for all batches, repeats and restarts, copied or inserted [1-storage]',
  async (t) => {
    const { pool } = await readModelDatabase(t)
    for (const projection of projections) t.equal(await makeTable(pool, projection, 'building'), 2)
    const details = await fc.check(
      fc.asyncProperty(histories(), delivery, async (log, arriving) => {
        const problem = await problemOf(pool, log, arriving)
        if (problem !== undefined) throw new Error(problem)
      }),
      { numRuns, interruptAfterTimeLimit: 75_000, markInterruptAsFailure: false },
    )
    t.comment(`seed ${details.seed}, ${details.numRuns} histories`)
    t.notOk(details.failed, fc.defaultReportMessage(details) ?? 'all histories agree')
    t.ok(details.numRuns >= Math.min(numRuns, 20), 'enough histories were tried')
  },
)
