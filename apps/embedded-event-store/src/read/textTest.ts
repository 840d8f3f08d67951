// Tests stream names and event types against a client's prefixes or regular expression, in bounded time, because all
// filters run in one process.
import v8 from 'node:v8'
import vm from 'node:vm'
import { invalidArgument, unknown } from '../protocol/callError.ts'

export type TextTest = (text: string) => boolean

const maxPatternLength = 1_024
/** Compiling cannot be interrupted, and the backtracking engine may take seconds for a longer pattern. */
const maxBacktrackingLength = 64
const backtrackingTimeoutMs = 20
/** The timeout is wall-clock time, which also passes while a busy machine runs other processes. */
const maxTries = 5
const maxRememberedTexts = 1_000

// Enables the flag `l`, which selects the linear-time engine.
v8.setFlagsFromString('--enable-experimental-regexp-engine')

/** Whether the text starts with one of the prefixes. A binary search, because a client may send 100,000 of them. */
export function prefixTest(prefixes: readonly string[]): TextTest {
  const sorted: string[] = []
  for (const prefix of [...prefixes].sort(byCodeUnits)) {
    // Without prefixes covered by shorter ones, only the greatest prefix up to the text can match.
    const last = sorted.at(-1)
    if (last === undefined || !prefix.startsWith(last)) sorted.push(prefix)
  }
  return (text) => {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const prefix = sorted[middle]
      if (prefix !== undefined && prefix <= text) low = middle + 1
      else high = middle
    }
    const candidate = sorted[low - 1]
    return candidate !== undefined && text.startsWith(candidate)
  }
}

/**
 * Whether the pattern is found in the text.
 * @throws CallError for a malformed or too long pattern; the test itself throws one when it takes too long
 */
export function patternTest(source: string): TextTest {
  const linear = compiled(source, 'l')
  if (linear !== undefined && source.length <= maxPatternLength) return (text) => linear.test(text)
  // The linear engine does not support backreferences, lookaheads and large repetitions.
  const backtracking = compiled(source, '')
  if (backtracking === undefined) throw unknown('The regular expression is malformed')
  if (source.length > maxBacktrackingLength) throw invalidArgument('The regular expression is too long')
  return interruptibleTest(backtracking)
}

function compiled(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags)
  } catch {
    return undefined
  }
}

const script = new vm.Script('pattern.test(text)')
let sandbox: vm.Context | undefined

/** A test with a timeout takes a third of a millisecond, so results are cached: names and types repeat. */
function interruptibleTest(pattern: RegExp): TextTest {
  const remembered = new Map<string, boolean>()
  return (text) => {
    const known = remembered.get(text)
    if (known !== undefined) return known
    sandbox ??= vm.createContext({})
    sandbox.pattern = pattern
    sandbox.text = text
    const found = searchWithin(sandbox, backtrackingTimeoutMs)
    if (remembered.size >= maxRememberedTexts) remembered.clear()
    remembered.set(text, found)
    return found
  }
}

/** Repeats a search that timed out before it had half of its time on the CPU. */
function searchWithin(context: vm.Context, timeoutMs: number): boolean {
  for (let tries = 1; ; tries += 1) {
    const before = process.threadCpuUsage()
    try {
      return script.runInContext(context, { timeout: timeoutMs }) === true
    } catch (error) {
      if (!isTimeout(error)) throw error
      const { user, system } = process.threadCpuUsage(before)
      if (tries === maxTries || (user + system) / 1_000 > timeoutMs / 2) {
        throw unknown('The regular expression takes too long')
      }
    }
  }
}

/** An error of another context is not an instance of this context's Error. */
function isTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}

function byCodeUnits(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
