// The results that `payments reconcile` records and prints.
import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { readJson, reconcile, reconcileHarness } from '../testing/reconcileHarness.ts'
import { type CommandResult, runOps } from '../testing/runOps.ts'

/** Finding and payment id of each line before the table. */
const foundIn = ({ stdout }: CommandResult) =>
  stdout
    .slice(0, stdout.indexOf('\n\n'))
    .split('\n')
    .map((line) => [line.split(/ +/)[0], line.split(/ +/)[2]])

t.test('missed changes are recorded and printed, and a second run finds and records nothing', async (t) => {
  const harness = await reconcileHarness(t)
  const { payments, fakeStripe, fakePaypal, stripe, paypal, env } = harness
  const paid = await payments.open(stripe)
  fakeStripe.pay(await payments.intentOf(paid), 'succeeded')
  const waiting = await payments.open(stripe)
  const approved = await payments.open(paypal)
  fakePaypal.approve(await payments.intentOf(approved))
  const declined = await payments.open(stripe)
  fakeStripe.pay(await payments.intentOf(declined), 'failed')
  const hosted = await payments.open(harness.authorizeNet, { currency: 'USD' })
  harness.fakeAuthorizeNet.pay({ token: (await payments.payment(hosted)).client_secret ?? '' })
  const crashed = await payments.initiate('stripe')

  const first = await runOps(reconcile, env)
  t.equal(first.code, 0, first.stderr)
  t.same(foundIn(first), [
    ['late', paid],
    ['late', approved],
    ['late', declined],
    ['late', hosted],
    ['late', crashed],
  ])
  t.match(first.stdout, `stripe         ${crashed}  pending, its intent is now recorded\n`)
  t.match(first.stdout, /\n\n6 payments:\nfinding +authorize-net +paypal +stripe /)
  t.match(first.stdout, /\nsame +0 +0 +1 +The provider agrees with the record\.\n/)
  t.match(first.stdout, /\nlate +1 +1 +3 +Recorded by this run\./)
  t.notMatch(first.stdout, 'missing', 'findings without payments are not listed')
  t.equal(await payments.statusOf(paid), 'succeeded')
  t.equal(await payments.statusOf(approved), 'succeeded')
  t.equal(await payments.statusOf(waiting), 'pending')
  t.equal(fakePaypal.charges.length, 1, 'the approved payment is captured')
  const lastEvent = (await payments.store.readStream(paymentStream(paid))).at(-1)
  t.match(lastEvent, { type: 'PaymentSucceeded', metadata: { actor: 'operator' } })

  const recorded = await payments.store.lag(undefined, ['payment-'])
  const second = await runOps([...reconcile, '--all', '--json'], env)
  t.equal(second.code, 0, second.stderr)
  t.same(readJson(second).found, [])
  t.match(readJson(second).summary, { complete: true, payments: 6, findings: { same: 6, late: 0 } })
  t.same(await payments.store.lag(undefined, ['payment-']), recorded)
})

t.test('findings that need attention are printed each time, recorded once, and fail the command', async (t) => {
  const harness = await reconcileHarness(t, { allowDouble: true })
  const { payments, fakeStripe, fakePaypal, stripe, paypal } = harness
  const env = { ...harness.env, SANDBOX_PROVIDER: 'true', SANDBOX_WEBHOOK_SECRET: 'whsec_sandbox' }
  const lost = await payments.record('stripe', 'pi_elsewhere')
  const cheap = await payments.open(stripe)
  fakeStripe.intent(await payments.intentOf(cheap)).amount = 1999
  fakeStripe.pay(await payments.intentOf(cheap), 'succeeded')
  const canceled = await payments.open(stripe)
  await payments.notify(canceled, 'canceled')
  fakeStripe.pay(await payments.intentOf(canceled), 'succeeded')
  const twice = await payments.open(paypal)
  fakePaypal.approve(await payments.intentOf(twice))
  fakePaypal.captureTwice(await payments.intentOf(twice))
  const more = fakePaypal.captureTwice(await payments.intentOf(twice))
  const declined = await payments.open(paypal)
  fakePaypal.approve(await payments.intentOf(declined))
  fakePaypal.nextCaptures({ rejected: 'INSTRUMENT_DECLINED' })
  await payments.record('sandbox', 'intent-1')

  const open = await runOps(reconcile, env)
  t.equal(open.code, 1)
  t.same(foundIn(open), [
    ['missing', lost],
    ['amount_differs', cheap],
    ['conflict', twice],
    ['late', declined],
  ])
  t.match(open.stdout, /\nstateless .* 1 /, 'counted, and not printed')
  t.match(open.stderr, '3 payments need attention.\n')
  t.equal(await payments.statusOf(cheap), 'pending')
  const again = await runOps(reconcile, env)
  t.match(again.stdout, `approval_waits  paypal         ${declined}  failed in Paylog, approved at the provider\n`)

  const all = await runOps([...reconcile, '--all', '--json'], env)
  t.equal(all.code, 1)
  const charge = fakeStripe.intent(await payments.intentOf(canceled)).latest_charge
  t.match(readJson(all), {
    found: [
      {
        finding: 'missing',
        payment_id: lost,
        provider_id: 'stripe',
        provider_intent_id: 'pi_elsewhere',
        reported: null,
      },
      { finding: 'amount_differs', payment_id: cheap, amount_cents: 2200, reported: { amount_cents: 1999 } },
      {
        finding: 'conflict',
        payment_id: canceled,
        status: 'canceled',
        reported: { status: 'succeeded', amount_cents: 2200, currency: 'EUR', provider_payment_id: charge },
      },
      { finding: 'conflict', payment_id: twice, reported: { further_charges: [more] } },
      { finding: 'approval_waits', payment_id: declined, status: 'failed' },
    ],
    summary: {
      complete: true,
      payments: 6,
      answered: 6,
      findings: { conflict: 2, stateless: 1 },
      providers: { paypal: { conflict: 1, approval_waits: 1 } },
    },
  })
  const recorded = await payments.store.lag(undefined, ['payment-'])
  t.same(readJson(await runOps([...reconcile, '--all', '--json'], env)), readJson(all))
  t.same(await payments.store.lag(undefined, ['payment-']), recorded)
})

t.test('an unreachable provider does not prevent the check of the others', async (t) => {
  const { payments, fakeStripe, fakePaypal, stripe, paypal, env } = await reconcileHarness(t)
  const unreachable = await payments.open(stripe)
  fakeStripe.pay(await payments.intentOf(unreachable), 'succeeded')
  const approved = await payments.open(paypal)
  fakePaypal.approve(await payments.intentOf(approved))
  const notEnabled = await payments.record('elsewhere', 'intent-1')
  fakeStripe.shut()

  const down = await runOps(reconcile, env)
  t.equal(down.code, 1)
  t.same(foundIn(down), [
    ['unreachable', unreachable],
    ['late', approved],
    ['unreachable', notEnabled],
  ])
  t.match(down.stdout, `${notEnabled}  pending in Paylog, provider_not_enabled\n`)
  t.match(down.stdout, /\nunreachable +1 +0 +1 +The provider did not respond or is not enabled\. /)

  await fakeStripe.open()
  const up = await runOps([...reconcile, '--json'], env)
  t.match(readJson(up), { found: [{ finding: 'late', payment_id: unreachable }, { finding: 'unreachable' }] })
  t.equal(await payments.statusOf(unreachable), 'succeeded')
})

t.test('a call whose outcome stays unknown is reported as unknown', async (t) => {
  const { payments, fakeStripe, env } = await reconcileHarness(t)
  const crashed = await payments.initiate('stripe')
  fakeStripe.faults.always({ kind: 'status', status: 500, commits: false })
  const open = await runOps(reconcile, env)
  t.equal(open.code, 1)
  t.same(foundIn(open), [['unknown', crashed]])
  t.match(open.stderr, '1 payment needs attention.\n')
  fakeStripe.faults.always(undefined)
  t.match(await runOps([...reconcile], env), { code: 0 })
  t.equal(fakeStripe.intents().length, 1)
})
