// Payments at PayPal under faults: nothing is charged twice, and no unknown outcome is reported as done or failed.

import { createServer } from 'node:http'
import { type Fault, listen } from '@paylog/testing/fakeServer'
import { freePort } from '@paylog/testing/processes'
import t from 'tap'
import {
  approvedOrder,
  capture,
  createRequest,
  paypalFor,
  paypalHarness,
  refTo,
  retrieve,
} from './testing/paypalHarness.ts'

const lastingFaults: readonly Fault[] = [
  { kind: 'drop', commits: false },
  { kind: 'drop', commits: true },
  { kind: 'hang', commits: false },
  { kind: 'hang', commits: true },
  { kind: 'status', status: 500, commits: false },
  { kind: 'status', status: 500, commits: true },
  { kind: 'status', status: 502, commits: true },
  { kind: 'garbage', commits: true },
  { kind: 'slow', ms: 1500 },
]
/** Faults that a retry within the same call overcomes. A hang uses up all the time. */
const shortFaults = lastingFaults.filter(({ kind }) => kind !== 'hang' && kind !== 'slow')
const name = (fault: Fault) => JSON.stringify(fault)
const unknown = { name: 'ProviderError', kind: 'unknown' }
const unavailable = { name: 'ProviderError', kind: 'unavailable' }

/** The tests mostly wait, so they run in parallel. */
const forEach = (faults: readonly Fault[], check: (fault: Fault) => Promise<void>) => Promise.all(faults.map(check))

t.test('PayPal: a short fault is overcome with the same key and one order', async (t) => {
  await forEach(shortFaults, async (fault) => {
    const { fake, paypal } = await paypalHarness(t)
    fake.faults.next(fault)
    const { provider_intent_id } = await paypal.createIntent(createRequest)
    t.same([...fake.orders.keys()], [provider_intent_id], name(fault))
    const keys = fake.callsTo(/orders/).map(({ key }) => key)
    t.same(keys, [createRequest.idempotency_key, createRequest.idempotency_key], 'the same key')
  })
})

t.test('PayPal: a lastingFaults fault makes the outcome of creating an order unknown', async (t) => {
  await forEach(lastingFaults, async (fault) => {
    const { fake, paypal } = await paypalHarness(t, { timeoutMs: 1000 })
    fake.faults.always(fault)
    await t.rejects(paypal.createIntent(createRequest), unknown, name(fault))
  })
})

t.test('PayPal: an order is captured once, even when responses are lost', async (t) => {
  await forEach(shortFaults, async (fault) => {
    const { fake, paypal } = await paypalHarness(t)
    const ref = await approvedOrder({ fake, paypal })
    fake.faults.next(fault, fault)
    t.match(await capture(paypal, ref, 'c1'), { evidence: { status: 'succeeded' } }, name(fault))
    t.equal(fake.charges.length, 1)
    const keys = fake.callsTo(/capture$/).map(({ key }) => key)
    t.same(keys, ['c1', 'c1', 'c1'])
  })
})

t.test('PayPal: a capture without a response is unknown, and a repeated capture returns the outcome', async (t) => {
  await forEach(lastingFaults, async (fault) => {
    const { fake, paypal } = await paypalHarness(t, { timeoutMs: 1000 })
    const ref = await approvedOrder({ fake, paypal })
    fake.faults.always(fault)
    await t.rejects(capture(paypal, ref, 'c1'), unknown, name(fault))
    fake.faults.always(undefined)
    t.match(await capture(paypalFor(t, fake), ref, 'c1'), { evidence: { status: 'succeeded' } })
    t.equal(fake.charges.length, 1)
  })
})

t.test('PayPal: two parallel captures take the money once', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const ref = await approvedOrder({ fake, paypal })
  fake.faults.next({ kind: 'slow', ms: 100 })
  const both = await Promise.all([capture(paypal, ref, 'c1'), capture(paypalFor(t, fake), ref, 'c1')])
  t.match(both, [{ evidence: { status: 'succeeded' } }, { evidence: { status: 'succeeded' } }])
  t.equal(fake.charges.length, 1)
})

t.test('PayPal: a slow response within the time limit is accepted', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  fake.faults.next({ kind: 'slow', ms: 300 })
  await paypal.createIntent(createRequest)
  t.equal(fake.callsTo(/orders/).length, 1)
})

t.test('PayPal: a refused connection makes the call unavailable', async (t) => {
  const { fake } = await paypalHarness(t)
  const paypal = paypalFor(t, fake, { apiBase: `http://127.0.0.1:${await freePort()}` })
  await t.rejects(paypal.createIntent(createRequest), unavailable)
  await t.rejects(capture(paypal, refTo('O1'), 'c1'), unavailable)
  await t.rejects(retrieve(paypal, refTo('O1')), unavailable)
})

t.test('PayPal: an unknown outcome stays unknown when the retry cannot connect', async (t) => {
  const server = createServer((request, response) => {
    if (request.url === '/v1/oauth2/token') return void response.end('{"access_token":"A21AA","expires_in":32400}')
    server.close()
    server.closeAllConnections()
  })
  const { fake } = await paypalHarness(t)
  const paypal = paypalFor(t, fake, { apiBase: await listen(t, server) })
  await t.rejects(paypal.createIntent(createRequest), unknown)
  await t.rejects(paypal.createIntent(createRequest), { ...unavailable, code: 'econnrefused' }, 'a new call')
})

t.test('PayPal: an unknown outcome stays unknown when every retry is throttled', async (t) => {
  const { fake, paypal } = await paypalHarness(t, { timeoutMs: 1_000 })
  fake.faults.next({ kind: 'drop', commits: true })
  fake.faults.always({ kind: 'status', status: 429, commits: false })
  await t.rejects(paypal.createIntent(createRequest), unknown)
  t.equal(fake.orders.size, 1)
})

t.test('PayPal: an unknown outcome stays unknown when the retry gets no access token', async (t) => {
  // Used for half of its lifetime, which is shorter than the pause before the retry.
  const { fake, paypal } = await paypalHarness(t, { tokenLifetimeSeconds: 0.38 })
  const ref = await approvedOrder({ fake, paypal })
  fake.faults.next({ kind: 'drop', commits: true })
  fake.tokenFaults.next(undefined)
  fake.tokenFaults.always({ kind: 'drop', commits: false })
  await t.rejects(capture(paypalFor(t, fake), ref, 'c1'), unknown)
  t.equal(fake.charges.length, 1)
})

t.test('PayPal: retrieving an order is retried after a lost response', async (t) => {
  await forEach(shortFaults, async (fault) => {
    const { fake, paypal } = await paypalHarness(t)
    const { provider_intent_id } = await paypal.createIntent(createRequest)
    fake.readFaults.next(fault, fault)
    t.match(await retrieve(paypal, refTo(provider_intent_id)), { evidence: { status: 'pending' } }, name(fault))
    fake.readFaults.always(fault)
    await t.rejects(retrieve(paypal, refTo(provider_intent_id)), unknown)
  })
})

t.test('PayPal: a capture and the following read of the order share one time limit', async (t) => {
  const { fake, paypal } = await paypalHarness(t, { timeoutMs: 4_000 })
  const ref = await approvedOrder({ fake, paypal })
  fake.nextCaptures({ rejected: 'ORDER_ALREADY_CAPTURED' })
  fake.faults.next({ kind: 'slow', ms: 3_000 })
  fake.readFaults.always({ kind: 'hang', commits: false })
  const startedAt = performance.now()
  await t.rejects(capture(paypal, ref, 'c1'), unknown)
  t.equal(fake.callsTo(/\/orders\/[^/]+$/).length, 1)
  t.ok(performance.now() - startedAt < 6_000)
})
