import { waitFor } from '@paylog/testing/waitFor'
import { eventSamples, recordedEvent } from '@paylog/webhooks/testing/paymentFixture'
import t from 'tap'
import { at, event, followUpsHarness, none, stream, tiedReport } from '../testing/followUpsHarness.ts'
import type { FollowUp, FollowUps } from './followUps.ts'

/** After all times planned here. */
const later = at(1_000_000)
const { payment_id } = eventSamples.PaymentInitiated
const { pool, emptyList } = await followUpsHarness(t)

/** Runs a statement in a transaction, which is committed once what `begin` starts waits for it. */
async function whileOther(statement: string, begin: () => Promise<unknown>): Promise<void> {
  const other = await pool.connect()
  try {
    await other.query('begin')
    await other.query(statement)
    const waiting = begin()
    const blocked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await waitFor(async () => (await pool.query(blocked)).rowCount === 1, { what: 'a waiting statement' })
    await other.query('commit')
    await waiting
  } finally {
    other.release()
  }
}

async function takeOne({ followUps }: { followUps: FollowUps }): Promise<FollowUp> {
  const [taken, ...more] = await followUps.take('fake', later, 10)
  if (!taken || more.length > 0) throw new Error(`${more.length} more`)
  return taken
}

t.test('take returns only due follow-ups of the given provider', async (t) => {
  const list = await emptyList()
  await list.read(event('PaymentInitiated', 0))
  t.strictSame(await list.followUps.take('fake', at(29), 10), [])
  t.strictSame(await list.followUps.take('other', later, 10), [])
  t.strictSame(await list.followUps.waiting(['other']), [{ provider_id: 'fake', follow_ups: 1 }])
  t.strictSame(await list.followUps.waiting(['fake', 'other']), [])
  const [taken, ...more] = await list.followUps.take('fake', at(30), 10)
  t.match(taken, { subject: stream, payment_id, pauses: 1, correlation_id: 'request-1' })
  t.strictSame(taken?.times, { ...none, finish: at(30) })
  t.strictSame(more, [])
})

t.test('a follow-up that only waits for the expiry of its payment is kept, and taken then', async (t) => {
  const list = await emptyList()
  const expires_at = at(60).toISOString()
  const initiated = recordedEvent('PaymentInitiated', { stream, at: at(0), data: { expires_at } })
  await list.read(initiated)
  await list.read(event('ProviderIntentCreated', 1))
  const [taken] = await list.followUps.take('fake', later, 10)
  if (!taken) throw new Error('nothing was taken')
  t.ok(taken.times.expire)
  await list.followUps.giveBack(taken, { times: { ...none, expire: at(60) }, pauses: 0 })
  await list.has(t, [{ ...none, expire: 60, pauses: 0 }])
  t.strictSame(await list.followUps.take('fake', at(59), 10), [])
  t.match(await list.followUps.take('fake', at(60), 10), [{ subject: stream }])
  await list.read(event('PaymentSucceeded', 70))
  t.strictSame(await list.rows(), [])
})

t.test('take returns urgent follow-ups before watched ones, and the longest due first', async (t) => {
  const list = await emptyList()
  for (const n of [1, 2, 3]) await list.read(event('ProviderIntentCreated', n, `payment-${n}`))
  await list.read(event('PaymentInitiated', 5000, 'payment-5'), event('PaymentInitiated', 4999, 'payment-4'))
  await list.read(event('ProviderIntentCreated', 4, 'payment-6'), tiedReport(5001, 'payment-6'))
  const taken = []
  for (const limit of [1, 3, 10]) {
    const some = await list.followUps.take('fake', later, limit)
    taken.push(some.map(({ subject }) => subject).toSorted())
  }
  t.strictSame(taken, [['payment-6'], ['payment-1', 'payment-4', 'payment-5'], ['payment-2', 'payment-3']])
})

t.test('concurrent workers take different follow-ups without waiting for each other', async (t) => {
  const list = await emptyList()
  const count = 40
  await list.read(...Array.from({ length: count }, (_, n) => event('PaymentInitiated', n, `payment-${n}`)))
  const takes = Array.from({ length: 16 }, () => list.followUps.take('fake', later, 4))
  const taken = (await Promise.all(takes)).flat().map(({ subject }) => subject)
  while (taken.length < count) {
    const more = await list.followUps.take('fake', later, 4)
    if (more.length === 0) break
    taken.push(...more.map(({ subject }) => subject))
  }
  t.equal(taken.length, count)
  t.equal(new Set(taken).size, count)

  const other = await pool.connect()
  try {
    await other.query('begin')
    await pool.query('update webhooks.follow_ups set leased_until = null')
    await other.query(`select 1 from webhooks.follow_ups where subject <> 'payment-7' for update`)
    const free = await list.followUps.take('fake', later, 4)
    t.strictSame(
      free.map(({ subject }) => subject),
      ['payment-7'],
    )
  } finally {
    await other.query('rollback')
    other.release()
  }
})

t.test('a lease expires unless renewed, and results under an expired lease are ignored', async (t) => {
  const list = await emptyList(1_000)
  await list.read(event('PaymentInitiated', 0))
  const first = await takeOne(list)
  t.strictSame(await list.followUps.take('fake', later, 10), [])
  const { rows: leases } = await pool.query('select leased_until from webhooks.follow_ups')
  await waitFor(
    async () => {
      await list.followUps.renew([first])
      const { rows } = await pool.query('select now() > $1 as is_over', [leases[0].leased_until])
      return rows[0].is_over === true
    },
    { what: 'the end of the original lease' },
  )
  t.strictSame(await list.followUps.take('fake', later, 10), [], 'a renewed lease outlasts the original one')
  const second = await waitFor(async () => (await list.followUps.take('fake', later, 10))[0], {
    what: 'the end of the lease',
  })
  t.not(second.lease, first.lease)
  const leasedUntil = async () =>
    (await pool.query('select leased_until from webhooks.follow_ups')).rows[0].leased_until
  const until = await leasedUntil()
  await list.followUps.renew([first])
  t.strictSame(await leasedUntil(), until)
  await list.followUps.giveBack(first, 'over')
  await list.followUps.giveBack(first, { times: { ...none, ask: at(9) }, pauses: 9 })
  await list.has(t, [{ ...none, finish: 30, pauses: 1 }])
  await list.followUps.giveBack(second, { times: { ...none, watch: at(50) }, pauses: 2 })
  await list.has(t, [{ ...none, watch: 50, pauses: 2 }])
  t.match(await takeOne(list), { pauses: 2 }, 'the follow-up is free again')
})

t.test('an event during a follow-up overrides its result', async (t) => {
  const list = await emptyList()
  await list.read(event('PaymentInitiated', 0))
  const results = [{ times: { ...none, watch: at(7200) }, pauses: 5 }, 'over'] as const
  for (const [round, result] of results.entries()) {
    const taken = await takeOne(list)
    await list.read(tiedReport(40 + round))
    t.strictSame(await list.followUps.take('fake', later, 10), [], 'a leased follow-up is not taken')
    await list.followUps.giveBack(taken, result)
    await list.has(t, [{ finish: 30, ask: 40 + round, pauses: 0 }])
  }
  const taken = await takeOne(list)
  await list.followUps.giveBack(taken, 'over')
  t.strictSame(await list.rows(), [], 'without an event the result counts')
  await list.read(event('PaymentInitiated', 0))
  const ended = await takeOne(list)
  await list.read(event('ProviderIntentCreated', 49), event('PaymentSucceeded', 50))
  await list.followUps.giveBack(ended, results[0])
  t.strictSame(await list.rows(), [], 'a follow-up ended by an event stays ended')
})

t.test('an event that waits for a result is merged with it, or starts a new follow-up', async (t) => {
  const list = await emptyList()
  const meanwhile = {
    "update webhooks.follow_ups set finish_at = null, watch_at = finish_at + interval '1 s', lease = null": {
      ...none,
      ask: 40,
      watch: 31,
    },
    'delete from webhooks.follow_ups': { ...none, ask: 40 },
  }
  for (const [result, expected] of Object.entries(meanwhile)) {
    await list.read(event('PaymentInitiated', 0))
    await whileOther(result, () => list.read(tiedReport(40)))
    await list.has(t, [expected])
  }
})

t.test('a result that waits for an event is dropped, and the follow-up is free', async (t) => {
  const list = await emptyList()
  await list.read(event('PaymentInitiated', 0))
  for (const result of [{ times: { ...none, watch: at(7200) }, pauses: 5 }, 'over'] as const) {
    const taken = await takeOne(list)
    const update = "update webhooks.follow_ups set ask_at = finish_at + interval '1 s', version = version + 1"
    await whileOther(update, () => list.followUps.giveBack(taken, result))
    await list.has(t, [{ ...none, finish: 30, ask: 31 }])
  }
  t.match(await takeOne(list), { subject: stream })
})
