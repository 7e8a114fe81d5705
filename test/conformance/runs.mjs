// The runs of the official suite: one for each revision that the suite knows, each with its own service.

/**
 * @typedef {object} Run
 * @property {string} revision
 * @property {boolean} isScored whether the suite has a list of what this revision requires
 * @property {string[]} extensions scenarios of extensions that the suite's list does not have
 * @property {number} minScenarios a run with fewer scenarios has failed
 * @property {string[]} neverExcepted scenarios that must run and pass, required by the suite or not
 */

const SKILLS = ['sep-2640-skills-enumeration', 'sep-2640-skills-manifest', 'sep-2640-skills-directory']

/** @type {Run[]} */
export const RUNS = [
  {
    revision: '2026-07-28',
    isScored: true,
    extensions: SKILLS,
    minScenarios: 30,
    neverExcepted: [
      'http-header-validation', 'http-custom-header-server-validation', 'json-schema-2020-12', ...SKILLS
    ]
  },
  {
    revision: '2025-11-25',
    isScored: true,
    extensions: [],
    minScenarios: 30,
    neverExcepted: ['server-session-lifecycle', 'server-sse-polling', 'json-schema-2020-12']
  },
  {
    revision: '2025-06-18',
    isScored: false,
    extensions: [],
    minScenarios: 27,
    neverExcepted: ['server-initialize', 'server-session-lifecycle']
  },
  {
    revision: '2025-03-26',
    isScored: false,
    extensions: [],
    minScenarios: 1,
    neverExcepted: ['server-session-lifecycle']
  }
]
