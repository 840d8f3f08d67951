// The people of local mode. They are made up, and only the sandbox identity backend knows them.
import type { SandboxGuestToken, SandboxSession } from './sandboxIdentity.ts'

export const demoSessions: readonly SandboxSession[] = [
  {
    session_id: 'demo-session',
    user: {
      id: '00000000-0000-4000-8000-000000000001',
      email: 'ada@example.com',
      name: 'Ada Example',
      userType: 'user',
    },
    expires_at: null,
  },
  {
    session_id: 'demo-session-2',
    user: {
      id: '00000000-0000-4000-8000-000000000002',
      email: 'grace@example.com',
      name: 'Grace Example',
      userType: 'user',
    },
    expires_at: null,
  },
  {
    session_id: 'demo-admin-session',
    user: {
      id: '00000000-0000-4000-8000-000000000003',
      email: 'admin@example.com',
      name: 'Admin Example',
      userType: 'admin',
    },
    expires_at: null,
  },
]

export const demoGuestTokens: readonly SandboxGuestToken[] = [
  { token: 'demo-guest-token', email: 'guest@example.com', name: 'Guest Example', expires_at: null },
]
