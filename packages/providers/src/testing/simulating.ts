// Simulated notifications with the same id and time in every test.
import type { ProviderObject } from '../notificationForm.ts'
import { type Simulator, simulators } from '../simulation.ts'

export const simulatedId = '018f0000-0000-7000-8000-000000000001'
export const simulatedAt = new Date('2026-01-02T03:04:05.678Z')

export function simulatorOf(provider: string): Simulator {
  const simulator = simulators.get(provider)
  if (!simulator) throw new Error(provider)
  return simulator
}

export function simulate(provider: string, type: string, object: ProviderObject, generic_type: string | null = null) {
  return simulatorOf(provider).simulate({ type, generic_type, payload: object, id: simulatedId, at: simulatedAt })
}
