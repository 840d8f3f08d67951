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

/** CPU time of a server with a process for each connection, ended ones included. */
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
