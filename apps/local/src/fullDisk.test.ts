// The disk of the data directory fills up under a running system, and has space again. Only root on Linux can mount it.
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
/** After there is space again. */
const recoveryMs = 30_000
const skipReason = { status: 503, success: false, code: 'event_store_unavailable' }
const canMount = process.platform === 'linux' && process.getuid?.() === 0
const reason = 'a full disk: needs root on Linux, who may mount one'
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

/** Takes every byte that is left. @returns how to give them back */
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
  'a system whose disk was full takes payments again by itself and lost none',
  { skip: canMount ? false : reason },
  async (t) => {
    const disk = mountDisk(t)
    const env = { DATA_DIR: join(disk, 'data'), PORT: String(await freePort()) }
    mkdirSync(env.DATA_DIR)
    const baseUrl = `http://127.0.0.1:${env.PORT}`
    const system = await startProcess(t, { script: main, env })
    const acknowledged: string[] = []
    /** Pays until one payment is taken, or is not. A refusal has to have the envelope. */
    const payUntil = async (isTaken: boolean, what: string) => {
      const isSo = async () => {
        const answer = await pay(baseUrl)
        if (answer.status === 201) acknowledged.push(idOf(answer))
        else {
          const { success, error } = JSON.parse(answer.body)
          t.match({ status: answer.status, success, code: error?.code }, skipReason)
        }
        return (answer.status === 201) === isTaken
      }
      await waitFor(isSo, { what, timeoutMs: recoveryMs })
    }
    const endPart = (name: string) => {
      const part = readRuntime(env.DATA_DIR)?.parts.find((part) => part.name === name)
      if (part) process.kill(part.pid, 'SIGKILL')
    }
    await payUntil(true, 'a payment')
    const free = fill(disk)
    // Each of them is started again, which is to be put into runtime.json.
    endPart('projector')
    endPart('postgres')
    await payUntil(false, 'a payment that fails')
    t.match(system.output(), /disk: .*Writes fail until/)
    t.notMatch(system.output(), 'there is space again')
    t.match(await (await fetch(`${baseUrl}/payments`, { headers: { 'x-session-id': 'demo-session' } })).json(), {
      success: false,
      error: { code: 'service_unavailable' },
    })
    free()
    await payUntil(true, 'a payment after there is space again')
    await waitForPayments(baseUrl, acknowledged)
    await waitFor(() => system.output().includes('there is space again'), { what: 'the word of it' })
    t.equal(system.output().match(/disk: /g)?.length, 2, 'each is said once')
    await waitFor(() => readRuntime(env.DATA_DIR)?.parts.every(({ pid }) => isAlive(pid)), {
      what: 'a runtime.json that is true',
    })
  },
)
