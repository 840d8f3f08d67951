// Memory stays flat, however long the file and whatever stands in it.
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { someLine, startImportRig } from '../testing/importRig.ts'

const { start, file, history } = await startImportRig(t)
const mebibyte = 1024 * 1024

/** The most memory that a process has held so far, in MiB; nothing of one that is gone. */
function peakOf(pid: number): number | undefined {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  } catch {
    return undefined
  }
}

async function peaks({ pid, ended }: ReturnType<typeof start>) {
  let peak = 0
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  const look = () => {
    peak = peakOf(pid) || peak
    return isOver
  }
  await waitFor(look, { what: 'the end', timeoutMs: 50_000 })
  return peak
}

t.test('a long file takes no more memory than a short one', async (t) => {
  const lines = (count: number) => `${someLine({ description: 'x'.repeat(500), is_recurring: 1 })}\n`.repeat(count)
  const short = start(file(lines(2_000)))
  const shortPeak = await peaks(short)
  const long = start(file(`${lines(200_000)}${someLine()}\n`))
  const longPeak = await peaks(long)
  t.match((await long.ended).stdout.slice(-200), '200001 lines: 1 added, 0 changed, 0 unchanged, 200000 rejected.')
  t.ok(longPeak < shortPeak + 60, `${longPeak} MiB, and ${shortPeak} MiB for a hundredth of the lines`)
})

t.test('a line without an end is read over', async (t) => {
  const id = '5f0a4b7e-92d1-4c7b-8d63-1f2e3a4b5c6d'
  function* content() {
    for (let written = 0; written < 400; written++) yield Buffer.alloc(mebibyte, '{"name":')
    yield `\n${someLine({ id })}\n`
    for (let written = 0; written < 100; written++) yield Buffer.alloc(mebibyte, '{"name":')
  }
  const running = start('-', Readable.from(content()))
  const peak = await peaks(running)
  t.match(await running.ended, {
    code: 2,
    stdout:
      'line 1: The line is longer than 262144 bytes\nline 3: The line is longer than 262144 bytes\n' +
      '3 lines: 1 added, 0 changed, 0 unchanged, 2 rejected.\n',
  })
  t.same(await history(id), ['ProductAdded'])
  t.ok(peak > 0 && peak < 400, `${peak} MiB`)
})
