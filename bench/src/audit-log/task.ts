// What the measured process does, and what it reports.
import { type Static, Type } from 'typebox'

/** `append`: the tree alone, of events in memory; the others read the log. */
export type AuditTask = 'project' | 'record' | 'append'

export const AuditTaskResult = Type.Object({
  ms: Type.Number(),
  /** Of the process. */
  cpuMicros: Type.Number(),
  postgresMicros: Type.Number(),
  /** Of the event store. */
  serverMicros: Type.Number(),
})
export type AuditTaskResult = Static<typeof AuditTaskResult>
