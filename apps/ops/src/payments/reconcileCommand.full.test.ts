// The arguments and the interruption of `payments reconcile`. Which payments it selects is in selection.test.ts.
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Provider } from '@paylog/providers/provider'
import { matchList } from '@paylog/testing/assertions'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { readJson, reconcile, reconcileHarness } from '../testing/reconcileHarness.ts'
import { type CommandResult, runOps, startOps } from '../testing/runOps.ts'
import { createPaymentSelection, reconcile as reconcilePayments } from './reconcile.ts'

t.test('payments reconcile with invalid arguments or variables fails before it starts', async (t) => {
  const { databaseUrl: DATABASE_URL } = await createMigratedDatabase(t)
  const env = { EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false', DATABASE_URL, DATA_DIR: t.testdir() }
  const ended = await runOps([...reconcile, '--since', 'yesterday'], env)
  t.match(ended, { code: 2, stdout: '', stderr: /^--since must be a time with an offset/ })
  t.match(ended.stderr, '\nUsage: npm run -s ops -- payments reconcile [--since T] [--all] [--reason TEXT] [--json]\n')
  const sandbox = { SANDBOX_PROVIDER: 'true', SANDBOX_WEBHOOK_SECRET: 'secret' }
  for (const [more, stderr] of [
    [{}, /^No provider is enabled\. Set .*STRIPE_SECRET_KEY/],
    [{ STRIPE_SECRET_KEY: 'sk_test' }, /^Bad configuration: STRIPE_WEBHOOK_SECRET is required/],
    [sandbox, /^The event store cannot be read at the moment \(event_store_unavailable\)\n$/],
  ] as const)
    t.match(await runOps(reconcile, { ...env, ...more }), { code: 1, stdout: '', stderr })
  t.match(await runOps([...reconcile, '--help'], env), { code: 0, stdout: /\n {2}--all .*\n.*\n\nExits with 0 when/s })
})

t.test('payments reconcile on an empty log succeeds', async (t) => {
  const { env } = await reconcileHarness(t)
  t.match(await runOps(reconcile, env), { code: 0, stdout: 'There is no payment to check.\n' })
})

t.test('an interrupted payments reconcile has recorded what it printed', async (t) => {
  const { payments, fakeStripe, stripe, env } = await reconcileHarness(t)
  const ids: string[] = []
  for (let opened = 0; opened < 40; opened++) {
    const id = await payments.open(stripe)
    fakeStripe.pay(await payments.intentOf(id), 'succeeded')
    ids.push(id)
  }
  fakeStripe.readFaults.always({ kind: 'slow', ms: 200 })
  const running = startOps(t, [...reconcile, '--json'], env)
  await waitFor(() => running.output().includes('late'), { what: 'the first result', timeoutMs: 30_000 })
  running.signal('SIGINT')
  const ended = await running.ended
  t.equal(ended.code, 1)
  const { found, summary } = readJson(ended)
  t.ok(found.length > 0 && found.length < ids.length, `${found.length} were checked`)
  t.match(summary, { complete: false, payments: ids.length, answered: found.length })
  t.match(ended.stderr, `Interrupted: ${found.length} of ${ids.length} payments were checked.\n`)
  const statuses = await Promise.all(ids.map(payments.statusOf))
  t.equal(statuses.filter((status) => status === 'succeeded').length, found.length, 'every printed result is recorded')

  fakeStripe.readFaults.always(undefined)
  const rest = await runOps([...reconcile, '--json'], env)
  t.match(readJson(rest).summary, { complete: true, payments: ids.length - found.length })
  t.equal(rest.code, 0)
})

t.test('a second interruption ends payments reconcile at once', async (t) => {
  const { payments, fakeStripe, stripe, env } = await reconcileHarness(t)
  await payments.open(stripe)
  fakeStripe.readFaults.always({ kind: 'hang', commits: false })
  const running = startOps(t, reconcile, { ...env, PROVIDER_TIMEOUT_MS: '15000' })
  const checkedIntents = () => fakeStripe.calls.some(({ method }) => method === 'GET')
  await waitFor(checkedIntents, { what: 'the call', timeoutMs: 30_000 })
  const interrupted = performance.now()
  let ended: CommandResult | undefined
  void running.ended.then((how) => {
    ended = how
  })
  // The repetition of the signal by npm is not a second interruption.
  const isOver = () => {
    running.signal('SIGINT')
    return ended
  }
  t.match(await waitFor(isOver, { what: 'the end' }), { code: 130, stdout: '', stderr: 'again to stop at once' })
  const tookMs = performance.now() - interrupted
  t.ok(tookMs > 1_000, `${tookMs} ms`)
})

t.test('payments reconcile interrupted while reading the log reports that no payment was checked', async (t) => {
  const { payments, fakeStripe, stripe } = await reconcileHarness(t)
  await payments.open(stripe)
  const { run, printed } = reconcileWith(payments.store, stripe, AbortSignal.abort())
  await t.rejects(run, { name: 'OpsError', message: 'Interrupted before any payment was checked.' })
  t.same(printed, [])
  t.notOk(fakeStripe.calls.some(({ method }) => method === 'GET'))
})

t.test('a failed payments reconcile prints the results so far', async (t) => {
  const { payments, fakeStripe, stripe } = await reconcileHarness(t)
  const paid = await payments.open(stripe)
  fakeStripe.pay(await payments.intentOf(paid), 'succeeded')
  const failing = await payments.open(stripe)
  const provider: Provider = {
    ...stripe,
    async retrieveIntent(ref) {
      if (ref.payment_id === failing) throw new TypeError('on purpose')
      return (await stripe.retrieveIntent?.(ref)) ?? null
    },
  }
  const { run, printed } = reconcileWith(payments.store, provider)
  t.match(await run, {
    text: /^\n1 of 2 payments, the others were not checked:\nfinding .*\n-.*\nlate /,
    problem: /^TypeError: on purpose\n/,
  })
  matchList(t, printed, [new RegExp(`^late .* ${paid} `)])
})

/** Reconciles all payments with one provider. */
function reconcileWith(store: EventStore, provider: Provider, signal = new AbortController().signal) {
  const printed: string[] = []
  const print = async (line: string) => void printed.push(line)
  const workflow = { store, providers: new Map([[provider.id, provider]]), now: () => new Date() }
  const selection = createPaymentSelection({ since: undefined, all: false })
  const progress = { show: () => {}, clear: () => {}, end: () => {} }
  return { run: reconcilePayments(workflow, selection, { print, isJson: false, progress, signal }), printed }
}
