// Kills the supervisor and starts it again at once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { freePort, startProcess } from '@paylog/testing/processes'
import { moduleLoading, testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'
import { dataDirectory } from './testing/dataDirectory.ts'
import { idOf, keepPaying, pay, waitForPayments } from './testing/payments.ts'

const main = new URL('./main.ts', import.meta.url)
/** The next start waits up to one second for old processes before it kills them. The rest allows for a busy machine. */
const longestMs = (ordinaryMs: number) => 2 * ordinaryMs + 3_000

t.test('npm start recovers from SIGKILL', async (t) => {
  const env = { DATA_DIR: dataDirectory(t), PORT: String(await freePort()) }
  const baseUrl = `http://127.0.0.1:${env.PORT}`
  const acknowledged: string[] = []

  /** Measures the time from the start to the first acknowledged payment. */
  async function startAndPay() {
    const startedAt = performance.now()
    const system = await startProcess(t, { script: main, env })
    const response = await pay(baseUrl)
    const tookMs = Math.round(performance.now() - startedAt)
    t.equal(response.status, 201, 'status of the first payment after a start')
    acknowledged.push(idOf(response))
    return { system, tookMs }
  }

  const first = await startAndPay()
  await first.system.stop()
  let { system, tookMs: ordinaryMs } = await startAndPay()

  await t.test('a system killed under load accepts payments as soon as after a clean stop', async (t) => {
    for (let kill = 1; kill <= testCycles(1); kill += 1) {
      const load = keepPaying(baseUrl, 16)
      await pause(1_000 + Math.random() * 1_000)
      await system.kill('SIGKILL')
      const next = await startAndPay()
      t.ok(next.tookMs < longestMs(ordinaryMs), `${next.tookMs} ms, and ${ordinaryMs} ms after a stop`)
      acknowledged.push(...(await load.stop()))
      system = next.system
    }
    t.ok(acknowledged.length > 20, `${acknowledged.length} acknowledged payments`)
  })

  await t.test('a system killed during its start accepts payments as soon as after a clean stop', async (t) => {
    await system.kill('SIGKILL')
    const killedAfter: number[] = []
    for (let kill = 1; kill <= testCycles(2); kill += 1) {
      const afterMs = Math.round(Math.random() * ordinaryMs)
      killedAfter.push(afterMs)
      const child = spawn(process.execPath, [fileURLToPath(main)], {
        // With another master key it would end by itself, once it compares the key.
        env: { PATH: process.env.PATH, ...moduleLoading, PII_MASTER_KEY: testMasterKey, ...env },
        stdio: 'ignore',
      })
      await pause(afterMs)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    const next = await startAndPay()
    const message = `${next.tookMs} ms, killed after ${killedAfter.join(', ')} ms, and ${ordinaryMs} ms after a stop`
    t.ok(next.tookMs < longestMs(ordinaryMs), message)
  })

  await t.test('a system that was killed has every acknowledged payment', async () => {
    await waitForPayments(baseUrl, acknowledged)
  })
})
