// CPU time and memory of processes, from /proc, so most of it works on Linux only.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** 100 ticks per second, as on every Linux that Node supports. */
const microsPerTick = 10_000

/** Peak memory of a process in MiB. */
export function peakMiB(pid: number): number {
  return Number(/^VmHWM:\s*(\d+)/m.exec(statusOf(pid))?.[1]) / 1_024
}

/** Current memory of a process in MiB. */
export function residentMiB(pid: number): number {
  // Small Linux images lack `ps`, other systems lack `/proc`.
  const kibibytes =
    process.platform === 'linux'
      ? /^VmRSS:\s*(\d+)/m.exec(statusOf(pid))?.[1]
      : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(kibibytes) / 1_024
}

/** CPU time of a process in microseconds. */
export function cpuMicros(pid: number): number {
  return fieldsOf(pid).own
}

/** CPU time of a process and all its descendants, ended ones included. */
export function cpuMicrosOfAll(pid: number): number {
  const all = readdirSync('/proc').flatMap((name) => {
    const fields = /^\d+$/.test(name) ? existing(Number(name)) : undefined
    return fields === undefined ? [] : [{ pid: Number(name), ...fields }]
  })
  const sum = (of: typeof all): number =>
    of.reduce(
      (micros, { pid, own, ended }) => micros + own + ended + sum(all.filter(({ parent }) => parent === pid)),
      0,
    )
  return sum(all.filter((found) => found.pid === pid))
}

export function parentOf(pid: number): number {
  return fieldsOf(pid).parent
}

function statusOf(pid: number): string {
  return readFileSync(`/proc/${pid}/status`, 'utf8')
}

/** A process may exit while the list is read. */
function existing(pid: number) {
  try {
    return fieldsOf(pid)
  } catch {
    return undefined
  }
}

/** proc(5): after the name in parentheses come state, ppid, …, and from the 12th field on the times. */
function fieldsOf(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const ticks = (first: number) => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) * microsPerTick
  return { parent: fields[1] ?? 0, own: ticks(11), ended: ticks(13) }
}
