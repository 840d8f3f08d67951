// What processes take: from /proc, so that most of it is known on Linux only.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Ticks of a hundredth of a second, as on every Linux that Node runs on. */
const microsPerTick = 10_000

/** The memory that a process has held at most since it began, in MiB. */
export function peakMiB(pid: number): number {
  return Number(/^VmHWM:\s*(\d+)/m.exec(statusOf(pid))?.[1]) / 1_024
}

/** The memory that a process holds now, in MiB. */
export function residentMiB(pid: number): number {
  // A small Linux may be without `ps`, and other systems are without `/proc`.
  const kibibytes =
    process.platform === 'linux'
      ? /^VmRSS:\s*(\d+)/m.exec(statusOf(pid))?.[1]
      : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(kibibytes) / 1_024
}

/** The CPU time of a process so far, in microseconds. */
export function cpuMicros(pid: number): number {
  return fieldsOf(pid).own
}

/** The same of a server with a process for each connection: those that are there, and those that have ended. */
export function cpuMicrosOfAll(pid: number): number {
  const children = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  const { own, ended } = fieldsOf(pid)
  return children.reduce((sum, child) => {
    const fields = existing(child)
    return fields?.parent === pid ? sum + fields.own : sum
  }, own + ended)
}

export function parentOf(pid: number): number {
  return fieldsOf(pid).parent
}

function statusOf(pid: number): string {
  return readFileSync(`/proc/${pid}/status`, 'utf8')
}

/** A process may end while the list is gone through. */
function existing(pid: number) {
  try {
    return fieldsOf(pid)
  } catch {
    return undefined
  }
}

/** proc(5): behind the name in parentheses the fields are state, ppid, … and from the 12th on the times. */
function fieldsOf(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const ticks = (first: number) => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) * microsPerTick
  return { parent: fields[1] ?? 0, own: ticks(11), ended: ticks(13) }
}
