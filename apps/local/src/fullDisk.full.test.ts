// Fills the disk of the data directory while the system runs, then frees it. Needs root on Linux for the mount.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '@paylog/runtime/process/isAlive'
import { readRuntime } from '@paylog/runtime/process/runtimeFile'
import { freePort, startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { idOf, pay, waitForPayments } from './testing/payments.ts'

const main = new URL('./main.ts', import.meta.url)
const diskBytes = 256 * 1024 * 1024
/** From the moment the disk has space again. */
const recoveryMs = 30_000
/** A second on an idle machine. An append with an unknown outcome is repeated for 15 s. */
const refusedWithinMs = 5_000
const unavailable = { status: 503, success: false, code: 'event_store_unavailable' }
const canMount = process.platform === 'linux' && process.getuid?.() === 0
const reason = 'a full disk needs root on Linux, to mount one'
if (!canMount) t.comment(`NOT TESTED: ${reason}`)

function mountDisk(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-disk-test-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', directory])
  t.teardown(() => {
    execFileSync('umount', ['--lazy', directory])
    rmSync(directory, { recursive: true, force: true })
  })
  return directory
}

/** Uses up all free space. @returns a function that frees it */
function fill(directory: string): () => void {
  const file = join(directory, 'filling')
  const chunk = Buffer.alloc(64 * 1024)
  try {
    for (;;) writeFileSync(file, chunk, { flag: 'a' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
  return () => rmSync(file)
}

t.test(
  'after a full disk the system accepts payments again by itself and has lost none',
  { skip: canMount ? false : reason },
  async (t) => {
    const disk = mountDisk(t)
    const env = { DATA_DIR: join(disk, 'data'), PORT: String(await freePort()) }
    mkdirSync(env.DATA_DIR)
    const baseUrl = `http://127.0.0.1:${env.PORT}`
    const system = await startProcess(t, { script: main, env })
    const acknowledged: string[] = []
    /**
     * Creates payments until one succeeds or fails, as `expectSuccess` requires. A failure must have the error envelope.
     */
    const payUntil = async (expectSuccess: boolean, what: string) => {
      let tookMs = 0
      const isAsExpected = async () => {
        const begin = performance.now()
        const response = await pay(baseUrl)
        tookMs = performance.now() - begin
        if (response.status === 201) acknowledged.push(idOf(response))
        else {
          const { success, error } = JSON.parse(response.body)
          t.match({ status: response.status, success, code: error?.code }, unavailable)
        }
        return (response.status === 201) === expectSuccess
      }
      await waitFor(isAsExpected, { what, timeoutMs: recoveryMs })
      return tookMs
    }
    const killProcess = (name: string) => {
      const found = readRuntime(env.DATA_DIR)?.parts.find((each) => each.name === name)
      if (found) process.kill(found.pid, 'SIGKILL')
    }
    await payUntil(true, 'a payment')
    const freeSpace = fill(disk)
    const tookMs = await payUntil(false, 'a payment that the full disk refuses')
    t.comment(`refused after ${Math.round(tookMs)} ms`)
    t.ok(tookMs < refusedWithinMs, `${Math.round(tookMs)} ms`)
    // Both are restarted, and their new pids have to be written to runtime.json.
    killProcess('projector')
    killProcess('postgres')
    await payUntil(false, 'a payment that fails')
    const isReported = () => /disk: .*Writes fail until/.test(system.output())
    await waitFor(isReported, { what: 'the message about the full disk', timeoutMs: recoveryMs })
    t.notMatch(system.output(), 'space is available again')
    const list = () => fetch(`${baseUrl}/payments`, { headers: { 'x-session-id': 'demo-session' } })
    await waitFor(async () => (await list()).status === 503, { what: 'a Postgres that cannot start' })
    t.match(await (await list()).json(), { success: false, error: { code: 'service_unavailable' } })
    t.ok((await payUntil(false, 'a payment without Postgres')) < refusedWithinMs)
    freeSpace()
    await payUntil(true, 'a payment after space is available again')
    await waitForPayments(baseUrl, acknowledged)
    await waitFor(() => system.output().includes('space is available again'), { what: 'the message about free space' })
    t.equal(system.output().match(/disk: /g)?.length, 2, 'each message is printed once')
    await waitFor(() => readRuntime(env.DATA_DIR)?.parts.every(({ pid }) => isAlive(pid)), {
      what: 'a runtime.json with the running processes',
    })
  },
)
