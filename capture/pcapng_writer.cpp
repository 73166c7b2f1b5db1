// SPDX-License-Identifier: Apache-2.0
#include "capture/pcapng_writer.hpp"
