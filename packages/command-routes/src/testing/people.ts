// Who calls in the tests: the people whom the sandbox identity backend knows.

export const adaId = '00000000-0000-4000-8000-000000000001'
export const ada = { 'x-session-id': 'demo-session' }
export const graceId = '00000000-0000-4000-8000-000000000002'
export const grace = { 'x-session-id': 'demo-session-2' }
export const adminId = '00000000-0000-4000-8000-000000000003'
export const admin = { 'x-session-id': 'demo-admin-session' }
export const guestEmail = 'guest@example.com'
export const guest = { 'x-guest-token': 'demo-guest-token' }

let keys = 0
/** A header that no request of this test file had before. */
export const freshKey = () => ({ 'idempotency-key': `key-${keys++}` })
