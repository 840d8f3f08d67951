// A worker that is killed at random points, and an oracle that knows nothing of it: a journal of what was appended, and
// what the endpoints were told.
import { setTimeout as sleep } from 'node:timers/promises'
import { startFakeEndpoint } from '@paylog/testing/endpoint'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import {
  createWorkerProcessHarness,
  assertAllDelivered,
  keepAppending,
  rawEndpointVariables,
  receivedIds,
} from './faultRig.ts'

/** Counted from when it is ready; long enough for it to have sent something. */
const longestLifeMs = 1_500
/** As many as there may be: of all that is appended nothing must end as failed by chance. */
const retries = 20

/**
 * Appends all the time and kills the worker again and again, at points that depend on the seed.
 * @param options `env` is for the queue; `seed` is told, so that a failure can be played again
 */
export async function assertSurvivesKills(
  t: Test,
  options: { readonly env: Readonly<Record<string, string>>; readonly kills: number; readonly seed: number },
): Promise<void> {
  const { env, kills, seed } = options
  t.comment(`seed ${seed}`)
  const random = mulberry32(seed)
  const steady = await startFakeEndpoint(t)
  const shaky = await startFakeEndpoint(t, (response, index) => {
    if (index % 7 === 0) response.socket?.destroy()
    else response.writeHead(index % 5 === 0 ? 500 : 200).end()
  })
  const unsubscribed = await startFakeEndpoint(t)
  const harness = await createWorkerProcessHarness(t, {
    ...rawEndpointVariables(1, steady.url),
    ...rawEndpointVariables(2, shaky.url, { RETRY_SCHEDULE: Array.from({ length: retries }, () => '100ms').join() }),
    ...rawEndpointVariables(3, unsubscribed.url, { EVENTS: 'subscription.*' }),
    ...env,
  })
  const appending = keepAppending(t, harness)
  for (let kill = 0; kill < kills; kill++) {
    const worker = await harness.start()
    const before = steady.received.length
    await waitFor(() => steady.received.length > before, { what: 'a sign of life' })
    await sleep(random() * longestLifeMs)
    await worker.kill('SIGKILL')
  }
  await appending.stop()
  const last = await harness.start()
  for (const endpoint of [steady, shaky]) await assertAllDelivered(t, harness, endpoint, 60_000)
  t.equal(await harness.count('failed'), 0, 'nothing ended as failed')
  t.strictSame(receivedIds(unsubscribed), [], 'and nothing reached a node that does not want it')
  const requests = `${steady.received.length} and ${shaky.received.length} requests`
  t.comment(`${kills} kills, ${requests} for ${harness.journal.length} notifications`)
  await last.stop()
  t.strictSame(await last.exited, { code: 0, signal: null })
}

/** Public domain, by Tommy Ettinger: small, and good enough to choose moments. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
