// The sandbox's page: addresses, decisions and the notifications that follow, in Postgres.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listen, valueAt } from '@paylog/testing/fakeServer'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { PayerDecision } from '../hostedPage.ts'
import { createRequest, refTo } from '../testing/requests.ts'
import { createSandboxPage } from './page.ts'
import { createPostgresMemory } from './postgresMemory.ts'
import { createSandbox } from './sandbox.ts'

const { databaseUrl } = await createTestDatabase(t)
const memory = createPostgresMemory({ databaseUrl, timeoutMs: 5_000 })
t.teardown(() => memory.close())
const url = 'https://pay.example.com/pages/sandbox'
const pageWith = (...webhookSecrets: readonly string[]) => createSandboxPage({ url, webhookSecrets, memory })
const page = pageWith('secret')
const sandbox = createSandbox({ webhookSecrets: ['secret'], memory, page })

/** @returns the intent's id, the end of its address, and what decides on it as a payer does */
async function open(token: string | null = null, isManual = false) {
  const payment_id = randomUUID()
  const wanted = { payment_id, idempotency_key: payment_id, provider_method_id: token }
  const { provider_intent_id: id, redirect_url } = await sandbox.createIntent({ ...createRequest, ...wanted })
  const [, key = ''] = redirect_url?.replace(`${url}/`, '').split('/') ?? []
  const decide = async (decision: PayerDecision, seen?: string) =>
    page.decide(id, { decision, seen: seen ?? (await page.read(id))?.version ?? '', isManual })
  return { id, payment_id, key, redirect_url, decide }
}

/** A receiver that applies what it gets before it responds, as Paylog's does. @param status of its responses */
async function startReceiver(t: Test, status = () => 200) {
  const reported: { readonly id: unknown; readonly status: unknown }[] = []
  const failures: unknown[] = []
  const server = createServer((request, response) => {
    const received = buffer(request).then((body) => {
      const object = valueAt(JSON.parse(body.toString()), 'data', 'object')
      reported.push({
        id: valueAt(object, 'payment_intent') ?? valueAt(object, 'id'),
        status: valueAt(object, 'status'),
      })
      return sandbox.verifyNotification({ body, headers: request.headers, now: new Date() })
    })
    received.then(
      () => response.writeHead(status()).end(),
      (error: unknown) => response.writeHead(400).end(String(error)),
    )
  })
  const receiver = await listen(t, server)
  return {
    failures,
    deliver: () => page.deliver(receiver, (error) => failures.push(error)),
    /** The statuses that were reported of an intent and its dispute, in order. */
    reportsOf: (intentId: string) => reported.filter(({ id }) => id === intentId).map((each) => each.status),
  }
}

/** As if the time had come. */
async function makeDue() {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('update sandbox.notifications set due_at = now()')
  await client.end()
}

t.test('a page has an address that only its receiver knows, and keeps it', async (t) => {
  const { id, key, payment_id, redirect_url } = await open()
  t.match(redirect_url, `${url}/${id}/`)
  t.match(key, /^[\w-]{43}$/)
  t.ok(page.isAddress(id, key))
  const other = await open()
  for (const [intent, wrong] of [
    [other.id, key],
    [id, other.key],
    [id, key.slice(1)],
    [id, ''],
    [id, 'x'.repeat(43)],
    ['sandbox_pi_', key],
  ] as const)
    t.notOk(page.isAddress(intent, wrong), `${intent} ${wrong}`)
  const again = { ...createRequest, payment_id, idempotency_key: payment_id }
  t.equal((await sandbox.createIntent(again)).redirect_url, redirect_url)
  t.match(await sandbox.findIntents?.(payment_id), [{ redirect_url }])
})

t.test('an address is valid as long as its webhook secret is, also when another one signs', async (t) => {
  const { id, key } = await open()
  t.ok(pageWith('next', 'secret').isAddress(id, key))
  t.notOk(pageWith('next').isAddress(id, key))
  t.not(pageWith('next', 'secret').urlOf(id), page.urlOf(id))
})

t.test('what a payer decides is what the sandbox knows at once, and what its receiver is notified of', async (t) => {
  const { deliver, reportsOf } = await startReceiver(t)
  const cases = [
    ['pay', null, false, { status: 'succeeded', received_cents: 2599 }, ['succeeded']],
    ['pay', null, true, { status: 'processing', capturable_cents: 2599 }, ['requires_capture']],
    ['pay', 'pm_card_approval', false, { status: 'processing', capturable_cents: 0 }, ['approved']],
    ['pay', 'pm_card_dispute', false, { status: 'succeeded' }, ['succeeded', 'needs_response']],
    ['decline', null, false, { status: 'failed', is_payable: true }, ['failed']],
    ['later', null, false, { status: 'processing', is_payable: false }, ['processing']],
  ] as const
  for (const [decision, token, isManual, state, reports] of cases) {
    const { id, decide } = await open(token, isManual)
    t.match(await decide(decision), state)
    t.match(await page.read(id), state)
    await deliver()
    t.same(reportsOf(id), reports)
  }
  t.match(await page.read((await open('pm_card_actionRequired')).id), { asks_first: true, is_payable: true })
})

t.test('a payment that is paid later settles when its time has come, once', async (t) => {
  const { deliver, reportsOf } = await startReceiver(t)
  const [{ id, decide }, disputed] = [await open(), await open('pm_card_dispute')]
  await decide('later')
  await disputed.decide('later')
  await deliver()
  await deliver()
  t.same(reportsOf(id), ['processing'], 'not yet')
  await makeDue()
  await deliver()
  t.same(reportsOf(id), ['processing', 'succeeded'])
  t.match(await page.read(id), { status: 'succeeded' })
  t.same(reportsOf(disputed.id), ['processing', 'succeeded', 'needs_response'])
})

t.test('a payment that something else happens to does not settle afterwards', async (t) => {
  const { deliver, reportsOf } = await startReceiver(t)
  const { id, decide } = await open('pm_card_dispute')
  await decide('later')
  await deliver()
  await memory.update(id, (intent) => ({ ...intent, status: 'failed' }))
  await makeDue()
  await deliver()
  await makeDue()
  await deliver()
  t.same(reportsOf(id), ['processing'])
  t.match(await page.read(id), { status: 'failed' })
})

t.test('a second click, and one on a page that shows something older, decide nothing', async (t) => {
  const { deliver, reportsOf } = await startReceiver(t)
  const { id, decide } = await open()
  await Promise.all([decide('pay', ''), decide('pay', ''), decide('decline', ''), decide('later', '')])
  await deliver()
  t.equal(reportsOf(id).length, 1)
  const declined = await open()
  await declined.decide('decline', '')
  t.match(await declined.decide('pay', ''), { status: 'failed' }, 'the page showed a payment that nobody had declined')
  t.match(await declined.decide('pay'), { status: 'succeeded' })
  t.match(await declined.decide('decline'), { status: 'succeeded' })
  t.equal(await page.decide('sandbox_pi_x', { decision: 'pay', seen: '', isManual: false }), null)
})

t.test('a canceled intent cannot be paid, and a decided one cannot be canceled', async (t) => {
  const { id, payment_id, decide } = await open()
  await sandbox.cancelIntent({ ...refTo(id, { payment_id }), idempotency_key: 'cancel' })
  t.match(await decide('pay'), { status: 'canceled', received_cents: 0 })
  const later = await open()
  await later.decide('later')
  const request = { ...refTo(later.id, { payment_id: later.payment_id }), idempotency_key: 'cancel' }
  t.match(await sandbox.cancelIntent(request), { report: { status: 'processing' } })
})

t.test('a notification that is not accepted is sent again, and the next of its intent waits for it', async (t) => {
  let status = 503
  const { deliver, reportsOf, failures } = await startReceiver(t, () => status)
  const { id, decide } = await open('pm_card_dispute')
  await decide('pay')
  await deliver()
  t.same(reportsOf(id), ['succeeded'])
  t.match(failures, [{ message: /returned 503/ }])
  await deliver()
  t.equal(reportsOf(id).length, 1, 'not at once')
  status = 200
  await makeDue()
  await deliver()
  t.same(reportsOf(id), ['succeeded', 'succeeded', 'needs_response'])
})

t.test('two processes deliver each notification once', async (t) => {
  const { deliver, reportsOf } = await startReceiver(t)
  const opened = await Promise.all(Array.from({ length: 25 }, () => open()))
  for (const { decide } of opened) await decide('pay')
  await Promise.all([deliver(), deliver(), deliver()])
  await deliver()
  for (const { id } of opened) t.same(reportsOf(id), ['succeeded'])
})
