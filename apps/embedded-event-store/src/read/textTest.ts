// Tests names and types against a client's expression, in bounded time whatever the expression is: every filter runs in
// the one process that serves everybody.
import v8 from 'node:v8'
import vm from 'node:vm'
import { invalidArgument, unknown } from '../protocol/callError.ts'

export type TextTest = (text: string) => boolean

const maxPatternLength = 1_024
/** Compiling cannot be interrupted, and the backtracking engine may take seconds for a longer pattern. */
const maxBacktrackingLength = 64
const backtrackingTimeoutMs = 20
/** The watchdog's clock goes on while a busy machine runs others. */
const mostTries = 5
const maxRememberedTexts = 1_000

// Makes the flag `l` known, which asks for the engine whose time is linear in the text.
v8.setFlagsFromString('--enable-experimental-regexp-engine')

/** Whether the text begins with one of the prefixes; no prefix, no match. A search, because a client may name 100,000 of them. */
export function prefixTest(prefixes: readonly string[]): TextTest {
  const sorted: string[] = []
  for (const prefix of [...prefixes].sort(byCodeUnits)) {
    // What a shorter prefix covers is left out: then only the greatest prefix up to the text can match.
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
 * @throws Refusal for a malformed or a too long pattern; the test itself throws one when it takes too long
 */
export function patternTest(source: string): TextTest {
  const linear = compiled(source, 'l')
  if (linear !== undefined && source.length <= maxPatternLength) return (text) => linear.test(text)
  // Backward references, lookaheads and large repetitions are not for the linear engine.
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

/** A test under a watchdog costs a third of a millisecond, so its results are remembered: names and types come back. */
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

/** A search that was cut off before it had half of its time on the processor is made again. */
function searchWithin(context: vm.Context, timeoutMs: number): boolean {
  for (let tries = 1; ; tries += 1) {
    const before = process.threadCpuUsage()
    try {
      return script.runInContext(context, { timeout: timeoutMs }) === true
    } catch (error) {
      if (!isTimeout(error)) throw error
      const { user, system } = process.threadCpuUsage(before)
      if (tries === mostTries || (user + system) / 1_000 > timeoutMs / 2) {
        throw unknown('The regular expression takes too long')
      }
    }
  }
}

/** An error of the other context is no instance of this one's Error. */
function isTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}

function byCodeUnits(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
