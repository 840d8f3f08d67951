// Where an event stands in the whole log.

/** Both numbers are kept: some servers only honour one of them. */
export type LogPosition = { readonly commit: bigint; readonly prepare: bigint }

/** Whether a position lies behind another one, towards the end of the log. */
export function isAfter(position: LogPosition, other: LogPosition): boolean {
  return position.commit === other.commit ? position.prepare > other.prepare : position.commit > other.commit
}
