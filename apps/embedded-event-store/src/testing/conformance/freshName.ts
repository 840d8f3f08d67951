// Stream names that no server has seen before.
import { randomUUID } from 'node:crypto'

export function freshName(kind: string): string {
  return `${kind}-${randomUUID()}`
}
