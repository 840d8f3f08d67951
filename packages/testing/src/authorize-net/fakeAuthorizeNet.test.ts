// The fake Authorize.Net is as strict as the gateway where other tests depend on it.
import t from 'tap'
import { type FakeAuthorizeNet, startFakeAuthorizeNet } from './fakeAuthorizeNet.ts'

const merchantAuthentication = { name: 'fake-login', transactionKey: 'fake-key' }

/** @returns the code of the response */
async function call(fake: FakeAuthorizeNet, method: string, members: object): Promise<string> {
  const response = await fetch(`${fake.origin}/xml/v1/request.api`, {
    method: 'POST',
    body: JSON.stringify({ [`${method}Request`]: members }),
  })
  return JSON.parse((await response.text()).replace(/^\ufeff/, '')).messages.message[0].code
}

t.test('fake Authorize.Net: members that are out of order, too long or unknown are errors', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  const [transactionType, amount, order] = ['authCaptureTransaction', '7.20', { invoiceNumber: '7e6f8a9b0c1d2e3f4a5b' }]
  const transactionRequest = { transactionType, amount, order }
  t.equal(await call(fake, 'getHostedPaymentPage', { merchantAuthentication, transactionRequest }), 'I00001')
  for (const members of [
    { transactionRequest, merchantAuthentication },
    { merchantAuthentication, transactionRequest, refId: 'after' },
    { merchantAuthentication, transactionRequest: { transactionType, order, amount } },
    { merchantAuthentication, transactionRequest: { ...transactionRequest, color: 'red' } },
    { merchantAuthentication, refId: '7e6f8a9b0c1d2e3f4a5b6', transactionRequest },
    { merchantAuthentication, transactionRequest: { transactionType, amount: '7.2', order } },
  ])
    t.equal(await call(fake, 'getHostedPaymentPage', members), 'E00003', JSON.stringify(members))
  const stranger = { ...merchantAuthentication, transactionKey: 'wrong' }
  t.equal(await call(fake, 'getHostedPaymentPage', { merchantAuthentication: stranger, transactionRequest }), 'E00007')
})
