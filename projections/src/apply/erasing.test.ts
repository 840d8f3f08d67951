// Erasures in batches of events: what is emptied, when, and what stays.

import { addressFold, changeAddress } from '@paylog/domain/addresses/address'
import { recordRefund, requestRefund } from '@paylog/domain/payments/refunds'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import type { Pool } from 'pg'
import t from 'tap'
import { addresses } from '../addresses/projection.ts'
import { paymentMethods } from '../payment-methods/projection.ts'
import { payments } from '../payments/projection.ts'
import type { Projection } from '../projection.ts'
import { refunds } from '../refunds/projection.ts'
import { makeTable } from '../tables/tables.ts'
import { differenceOf, foldedRows, tableRows } from '../testing/expectedRows.ts'
import {
  addAddressTo,
  addMethodTo,
  addPaymentTo,
  createLogFixture,
  guest,
  type LogFixture,
  ofGuest,
  ofUser,
  user,
} from '../testing/logFixture.ts'
import { readModelDatabase } from '../testing/projectionHarness.ts'
import { createApplier } from './applier.ts'
import { liveCheckpoint } from './checkpoints.ts'
import type { ErasureSource } from './erasing.ts'
import { copyRows } from './writers.ts'

const at = (minute: number) => `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z`
const report = (minute: number) => ({
  ...{ occurred_at: at(minute), provider_time: at(minute), provider_event_id: null, provider_intent_id: null },
  provider_payment_id: 'ch_1',
})
const money = { ...report(10), status: 'succeeded' as const, amount_cents: null, currency: null }
const personal = [payments, refunds, paymentMethods, addresses]

/** A person who pays, gets a refund, and saves a method and an address, beside another one who does the same. */
function twoPersons(log: LogFixture): void {
  for (const [id, name] of [
    ['u1', 'canary'],
    ['u2', 'other'],
  ] as const) {
    const payment = addPaymentTo(log, { ...user(id, `${name}@example.com`), description: `for ${name}` })
    log.decide(payment, (state) => recordStatus(money, state))
    const refund_id = addPaymentTo(createLogFixture())
    const requested = {
      occurred_at: at(11),
      refund_id,
      reason: 'other',
      note: name,
      request_fingerprint: null,
      refund_limit_cents: null,
    } as const
    log.decide(payment, (state) => requestRefund(requested, state))
    const amount = { amount_cents: 1000, currency: null, status: 'succeeded' as const }
    const refunded = { refund_id, provider_refund_id: `re_${id}`, ...amount }
    log.decide(payment, (state) => recordRefund({ ...report(12), ...refunded }, state))
    addPaymentTo(log, guest(`${name}@example.com`))
    addMethodTo(log, { ...ofUser(id), alias: name })
    addAddressTo(log, { ...ofGuest(`${name}@example.com`), name })
  }
}

const contentOf = async (pool: Pool, { name }: Projection, version = 1) => {
  const { rows } = await pool.query<{ id: string; place: string; text: string }>(
    `select id, ctid::text as place, t::text as text from read_models.${name}_v${version} as t order by id`,
  )
  return rows
}

const textsOf = (rows: readonly { readonly text: string }[]) => rows.map(({ text }) => text)

/** The rows of a table that is filled after all erasures. */
async function rebuiltTexts(pool: Pool, projection: Projection, log: LogFixture) {
  const version = await makeTable(pool, projection, 'building')
  const reader = log.lateReader()
  const applier = createApplier({ pool, projection, version, source: reader, writer: copyRows })
  await applier.start()
  await applier.apply(reader.batch())
  return textsOf(await contentOf(pool, projection, version))
}

t.test('an erasure empties the rows of its person in every table, as a rebuild would', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  twoPersons(log)
  const before = log.events.length
  log.forget('user:u1', 'guest:canary@example.com')
  for (const projection of personal) {
    const reader = log.reader()
    const applier = createApplier({ pool, projection, version: 1, source: reader })
    await applier.start()
    await applier.apply(reader.batch(0, before))
    const shown = await contentOf(pool, projection)
    t.ok(
      shown.some(({ text }) => text.includes('canary')),
      `${projection.name} had it`,
    )
    await applier.apply(reader.batch(before))
    const rows = await contentOf(pool, projection)
    const isOther = ({ text }: { readonly text: string }) => /u2|other@/.test(text)
    t.notMatch(textsOf(rows).join(), 'canary')
    t.same(rows.filter(isOther), shown.filter(isOther), `${projection.name}: rows of others are not written again`)
    const table = `${projection.name}_v1`
    t.equal(
      differenceOf(await tableRows(pool, projection, table), foldedRows(projection, log.lateReader().events())),
      undefined,
    )

    t.same(textsOf(rows), await rebuiltTexts(pool, projection, log), `${projection.name}: a rebuilt table is equal`)
  }
})

t.test('events beside an erasure in its batch, and later ones with its key, are emptied too', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const address = addAddressTo(log, { ...ofUser('u1'), name: 'canary' })
  for (const line2 of ['canary 2', 'canary 3'])
    log.record(addressFold, address, (state) => changeAddress({ occurred_at: at(1), changes: { line2 } }, state))
  log.forget('user:u1')
  // Recorded after the erasure by a process that still had the key.
  const erasure = log.events.pop()
  if (erasure !== undefined) log.events.splice(1, 0, erasure)
  const positions = log.events.map(({ position }) => position).toSorted((a, b) => Number(a.commit - b.commit))
  for (const [index, event] of log.events.entries()) Object.assign(event, { position: positions[index] })
  const reader = log.reader()
  const applier = createApplier({ pool, projection: addresses, version: 1, source: reader })
  await applier.start()
  await applier.apply(reader.batch(0, 3))
  t.notMatch(JSON.stringify(await contentOf(pool, addresses)), 'canary')
  await applier.apply(reader.batch(3))
  const [row] = await contentOf(pool, addresses)
  t.notMatch(row?.text, 'canary')
  t.match(await tableRows(pool, addresses, 'addresses_v1'), new Map([[address, { revision: '2', line2: null }]]))
})

t.test('an erasure that fails at any step leaves rows and checkpoint as they were, and can be repeated', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  twoPersons(log)
  const before = log.events.length - 1
  log.forget('user:u1', 'guest:canary@example.com')
  const reader = log.reader()
  const failing = (step: keyof ErasureSource): ErasureSource => ({
    ...reader,
    [step]: () => Promise.reject(new Error(`${step} failed`)),
  })
  const first = createApplier({ pool, projection: payments, version: 1, source: reader })
  await first.start()
  await first.apply(reader.batch(0, before))
  const shown = await contentOf(pool, payments)
  for (const step of ['destroyKeys', 'readStream'] as const) {
    const applier = createApplier({ pool, projection: payments, version: 1, source: failing(step) })
    await applier.start()
    await t.rejects(applier.apply(reader.batch(before)), new RegExp(`${step} failed`))
    t.same(await contentOf(pool, payments), shown)
    t.same((await liveCheckpoint(pool, 'payments'))?.position, reader.batch(0, before).position)
  }
  await reader.destroyKeys(log.events.flatMap((event) => (event.type === 'SubjectErased' ? event.data.key_ids : [])))
  const next = createApplier({ pool, projection: payments, version: 1, source: reader })
  await next.start()
  await next.apply(reader.batch(before))
  t.notMatch(textsOf(await contentOf(pool, payments)).join(), 'canary')
})

t.test('when client secrets are no longer kept, only payments that have not ended are written again', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const [open, ended] = [addPaymentTo(log, user('u1')), addPaymentTo(log, user('u1'))]
  log.decide(ended, (state) => recordStatus(money, state))
  const before = log.events.length
  log.forgetSecrets()
  const reader = log.reader()
  const applier = createApplier({ pool, projection: payments, version: 1, source: reader })
  await applier.start()
  await applier.apply(reader.batch(0, before))
  const secretOf = async (id: string) => (await tableRows(pool, payments, 'payments_v1')).get(id)?.client_secret
  t.same([await secretOf(open), await secretOf(ended)], [`cs_${open}`, null])
  const places = await contentOf(pool, payments)
  await applier.apply(reader.batch(before))
  t.same([await secretOf(open), await secretOf(ended)], [null, null])
  const isEnded = ({ id }: { readonly id: string }) => id === ended
  t.same((await contentOf(pool, payments)).filter(isEnded), places.filter(isEnded))
  const texts = textsOf(await contentOf(pool, payments))
  t.match(texts.join(), 'u1@example.com', 'the person stays')
  t.same(texts, await rebuiltTexts(pool, payments, log), 'a rebuilt table is equal')
})
