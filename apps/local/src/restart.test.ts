// The supervisor is killed and started again at once.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, startProcess } from '@paylog/testing/processes'
import { compileCache, testCycles } from '@paylog/testing/testEnvironment'
import t, { type Test } from 'tap'
import { idOf, keepPaying, pay, waitForPayments } from './testing/payments.ts'

const main = new URL('./main.ts', import.meta.url)
/** A process is waited for one second before it is killed; the rest is for a machine that is busier than a moment ago. */
const longestMs = (ordinaryMs: number) => 2 * ordinaryMs + 3_000

function dataDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-restart-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'data')
}

t.test('a system that was killed', async (t) => {
  const env = { DATA_DIR: dataDirectory(t), PORT: String(await freePort()) }
  const baseUrl = `http://127.0.0.1:${env.PORT}`
  const acknowledged: string[] = []

  /** How long a start takes, until a payment is acknowledged. */
  async function startAndPay() {
    const begun = performance.now()
    const system = await startProcess(t, { script: main, env })
    const answer = await pay(baseUrl)
    const tookMs = Math.round(performance.now() - begun)
    t.equal(answer.status, 201, 'the first payment after a start')
    acknowledged.push(idOf(answer))
    return { system, tookMs }
  }

  const first = await startAndPay()
  await first.system.stop()
  let { system, tookMs: ordinaryMs } = await startAndPay()

  await t.test('under load takes writes as soon as after a stop, when it is started at once', async (t) => {
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

  await t.test('at any moments of its start takes writes as soon as after a stop', async (t) => {
    await system.kill('SIGKILL')
    const killedAfter: number[] = []
    for (let kill = 1; kill <= testCycles(2); kill += 1) {
      const afterMs = Math.round(Math.random() * ordinaryMs)
      killedAfter.push(afterMs)
      const child = spawn(process.execPath, [fileURLToPath(main)], {
        env: { PATH: process.env.PATH, ...compileCache, ...env },
        stdio: 'ignore',
      })
      await pause(afterMs)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    const next = await startAndPay()
    const story = `${next.tookMs} ms, killed after ${killedAfter.join(', ')} ms, and ${ordinaryMs} ms after a stop`
    t.ok(next.tookMs < longestMs(ordinaryMs), story)
  })

  await t.test('has every payment that it acknowledged', async () => {
    await waitForPayments(baseUrl, acknowledged)
  })
})
