// The fake Authorize.Net behaves like the provider where callers depend on it.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { listen } from '../fakeServer.ts'
import { type FakeAuthorizeNet, startFakeAuthorizeNet } from './fakeAuthorizeNet.ts'

const merchantAuthentication = { name: 'fake-login', transactionKey: 'fake-key' }

async function call(fake: FakeAuthorizeNet, method: string, members: object) {
  const response = await fetch(`${fake.origin}/xml/v1/request.api`, {
    method: 'POST',
    body: JSON.stringify({ [`${method}Request`]: members }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const body = bytes.toString('utf8')
  return { status: response.status, bytes, body, json: JSON.parse(body.replace(/^\ufeff/, '')) }
}
const errorWith = (code: string) => ({ json: { messages: { resultCode: 'Error', message: [{ code }] } } })

const order = { invoiceNumber: '7e6f8a9b0c1d2e3f4a5b' }
const transactionRequest = { transactionType: 'authCaptureTransaction', amount: '7.20', order }

t.test(
  'fake Authorize.Net: a response begins with a byte order mark and has status 200, even for errors',
  async (t) => {
    const fake = await startFakeAuthorizeNet(t)
    const failed = await call(fake, 'getTransactionDetails', { merchantAuthentication, transId: '1' })
    t.equal(failed.status, 200)
    t.same([...failed.bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf])
    t.match(failed, errorWith('E00040'))
    const plain = await startFakeAuthorizeNet(t, { byteOrderMark: false })
    t.ok((await call(plain, 'nothing', {})).body.startsWith('{'))
  },
)

t.test('fake Authorize.Net: members that are out of order, too long or unknown are errors', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  const { transactionType, amount } = transactionRequest
  for (const members of [
    { transactionRequest, merchantAuthentication },
    { merchantAuthentication, transactionRequest, refId: 'after' },
    { merchantAuthentication, transactionRequest: { amount, transactionType, order } },
    { merchantAuthentication, transactionRequest: { transactionType, order, amount } },
    { merchantAuthentication, transactionRequest: { ...transactionRequest, color: 'red' } },
    { merchantAuthentication: { transactionKey: 'fake-key', name: 'fake-login' }, transactionRequest },
    { merchantAuthentication, refId: '7e6f8a9b0c1d2e3f4a5b6', transactionRequest },
    { merchantAuthentication, transactionRequest: { transactionType, amount: '7.2', order } },
  ])
    t.match(await call(fake, 'getHostedPaymentPage', members), errorWith('E00003'), JSON.stringify(members))
  t.match(await call(fake, 'getTransactionDetails', { merchantAuthentication, transId: 'T1' }), errorWith('E00003'))
  t.match(await call(fake, 'getNothing', { merchantAuthentication }), errorWith('E00004'))
  t.match(
    await call(fake, 'getHostedPaymentPage', {
      merchantAuthentication: { ...merchantAuthentication, transactionKey: 'wrong' },
      transactionRequest,
    }),
    errorWith('E00007'),
  )
})

t.test('fake Authorize.Net: a token opens the form for 15 minutes, and amounts keep their zeros', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  const page = await call(fake, 'getHostedPaymentPage', { merchantAuthentication, refId: 'r1', transactionRequest })
  t.match(page.json, { refId: 'r1', messages: { resultCode: 'Ok' }, token: String })
  t.equal(fake.ledger.charges.length, 0)
  const token: string = page.json.token
  const { transId } = fake.pay({ token })
  const details = await call(fake, 'getTransactionDetails', { merchantAuthentication, transId })
  t.match(details.body, /"authAmount":7\.20,/)
  t.match(fake.events.at(-1)?.body ?? '', /"authAmount":7\.2,/)
  t.match(fake.ledger.charges, [{ charge_id: transId, payment_id: order.invoiceNumber, amount_cents: 720 }])
  fake.advance(16 * 60 * 1000)
  t.throws(() => fake.pay({ token }), /not valid/)
})

t.test(
  'fake Authorize.Net: the same card, amount and invoice within the window is a duplicate, not a charge',
  async (t) => {
    const fake = await startFakeAuthorizeNet(t, { allowDouble: true })
    const source = { invoiceNumber: 'a', amount_cents: 100 }
    const duplicate = { responseCode: 3, responseReasonCode: 11, transId: '0' }
    fake.pay(source)
    t.same(fake.pay(source), duplicate)
    t.match(fake.pay(source, { card: 'card-2' }), { responseCode: 1 })
    t.match(fake.pay({ ...source, amount_cents: 101 }), { responseCode: 1 })
    t.match(fake.pay({ ...source, invoiceNumber: 'b' }), { responseCode: 1 })
    fake.advance(119_000)
    t.same(fake.pay(source), duplicate)
    fake.advance(2000)
    t.match(fake.pay(source), { responseCode: 1 })
  },
)

t.test('fake Authorize.Net: declined attempts send no notification, others do', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  const pay = (invoiceNumber: string, outcome: 'approved' | 'declined' | 'error' | 'held') =>
    fake.pay({ invoiceNumber, amount_cents: 725 }, { outcome })
  pay('a', 'declined')
  pay('b', 'error')
  t.same(fake.events, [])
  fake.approveHeld(pay('c', 'held').transId)
  fake.declineHeld(pay('d', 'held').transId)
  t.same(
    fake.events.map(({ eventType }) => eventType.replace('net.authorize.payment.', '')),
    ['fraud.held', 'fraud.approved', 'fraud.held', 'fraud.declined'],
  )
  t.equal(fake.ledger.charges.length, 1)
})

t.test('fake Authorize.Net: a settled transaction moves from the unsettled list to its batch', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  fake.pay({ invoiceNumber: 'a', amount_cents: 1 })
  fake.pay({ invoiceNumber: 'b', amount_cents: 1 }, { authOnly: true })
  fake.pay({ invoiceNumber: 'c', amount_cents: 1 }, { outcome: 'declined' })
  const { batchId } = fake.settle()
  const sorting = { orderBy: 'submitTimeUTC', orderDescending: true }
  const invoices = async (method: string, members: object) =>
    (await call(fake, method, { merchantAuthentication, ...members, sorting })).json.transactions.map(
      (line: { invoiceNumber: string }) => line.invoiceNumber,
    )
  t.same(await invoices('getUnsettledTransactionList', {}), ['b'])
  t.same(await invoices('getTransactionList', { batchId }), ['c', 'a'])
  const paging = { limit: 1, offset: 2 }
  const second = await call(fake, 'getTransactionList', { merchantAuthentication, batchId, sorting, paging })
  t.match(second.json.transactions, [{ invoiceNumber: 'a' }])
})

t.test('fake Authorize.Net: batches are listed for at most 31 days', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  fake.settle()
  const list = (days: number) =>
    call(fake, 'getSettledBatchList', {
      merchantAuthentication,
      firstSettlementDate: new Date(fake.now() - days * 86_400_000).toISOString(),
      lastSettlementDate: new Date(fake.now() + 1000).toISOString(),
    })
  t.match((await list(30)).json.batchList, [{ batchId: String }])
  t.match(await list(31), errorWith('E00013'))
  t.match(await list(-1), errorWith('E00013'), 'reversed range')
})

t.test('fake Authorize.Net: notifications are signed and delivered in any order and number', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  fake.pay({ invoiceNumber: 'a', amount_cents: 700 })
  fake.notify('customer.created', { entityName: 'customerProfile', id: '394' })
  const [first] = fake.events
  if (!first) throw new Error('nothing was sent')
  t.match(first.body, /"authAmount":7\.0,/)
  t.match(JSON.parse(first.body), { eventDate: /\.\d{7}Z$/, eventType: 'net.authorize.payment.authcapture.created' })
  const digest = (key: string) => createHmac('sha512', key).update(first.body).digest('hex').toUpperCase()
  t.equal(fake.signed(first).headers['x-anet-signature'], `sha512=${digest(fake.signatureKey)}`)
  t.equal(fake.signed(first, { key: 'other' }).headers['x-anet-signature'], `sha512=${digest('other')}`)
  const received: string[] = []
  const url = await listen(
    t,
    createServer(async (request, response) => {
      received.push(JSON.parse(await text(request)).eventType)
      response.writeHead(202).end()
    }),
  )
  t.same(await fake.deliver(url, fake.events.toReversed(), { times: 2 }), [202, 202, 202, 202])
  t.same(
    received.map((eventType) => eventType.replace('net.authorize.', '')),
    ['customer.created', 'payment.authcapture.created', 'customer.created', 'payment.authcapture.created'],
  )
})
