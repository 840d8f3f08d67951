// The memory of an import does not depend on its input.
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { importHarness, someLine } from '../testing/importHarness.ts'
import { importProducts } from './import.ts'

const { store, start, history } = await importHarness(t)
const mebibyte = 1024 * 1024

/** The peak memory of a process in MiB, or undefined when it has exited. */
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
  await waitFor(look, { what: 'the end', timeoutMs: 90_000 })
  return peak
}

// With a large heap the garbage would count as well.
const nodeOptions = '--max-old-space-size=64 --max-semi-space-size=2'

t.test('lines are read only as fast as the report is consumed', async (t) => {
  const count = 5_000
  let read = 0
  async function* bytes() {
    for (; read < count; read++) yield Buffer.from('{\n')
  }
  const printed: string[] = []
  const reader = Promise.withResolvers<void>()
  const importing = importProducts(
    { store, now: () => new Date() },
    {
      file: { bytes, size: undefined, close() {} },
      isJson: false,
      async print(line) {
        printed.push(line)
        await reader.promise
      },
      progress: { show: () => {}, clear: () => {}, end: () => {} },
      signal: new AbortController().signal,
    },
  )
  await waitFor(() => printed.length > 0, { what: 'the first line of the report' })
  // Enough turns to read everything, without back-pressure.
  for (let turn = 0; turn < count; turn++) await setImmediate()
  t.equal(printed.length, 1)
  t.ok(read < 100, `${read} lines were read`)
  reader.resolve()
  t.match(await importing, { exitCode: 2 })
  t.equal(printed.length, count)
})

t.test('an endless line is skipped in bounded memory', async (t) => {
  const id = '5f0a4b7e-92d1-4c7b-8d63-1f2e3a4b5c6d'
  function* content() {
    for (let written = 0; written < 200; written++) yield Buffer.alloc(mebibyte, '{"name":')
    yield `\n${someLine({ id })}\n`
    for (let written = 0; written < 50; written++) yield Buffer.alloc(mebibyte, '{"name":')
  }
  const running = start('-', { input: Readable.from(content()), nodeOptions })
  const peak = await peaks(running)
  t.match(await running.ended, {
    code: 2,
    stdout:
      'line 1: The line is longer than 262144 bytes\nline 3: The line is longer than 262144 bytes\n' +
      '3 lines: 1 added, 0 changed, 0 unchanged, 2 rejected.\n',
  })
  t.same(await history(id), ['ProductAdded'])
  t.ok(peak > 0 && peak < 300, `${peak} MiB`)
})
