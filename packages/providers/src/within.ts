// Waits for what others wait for as well, and no longer than one's own time allows.

/**
 * @param late what comes in its place when the time is over; it may throw. The work goes on for the others
 * @throws what the work and `late` throw
 */
export async function withDeadline<Value>(ms: number, work: Promise<Value>, late: () => Value): Promise<Value> {
  const { promise: over, resolve } = Promise.withResolvers<'over'>()
  const timer = setTimeout(() => resolve('over'), Math.max(0, ms))
  try {
    const first = await Promise.race([work.then((value) => ({ value })), over])
    return first === 'over' ? late() : first.value
  } finally {
    clearTimeout(timer)
  }
}
